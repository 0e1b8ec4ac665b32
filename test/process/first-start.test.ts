/**
 * The first start makes everything, and what it prints is true; the next one comes back to it. D-49.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { httpClient } from '../support/http-client.ts'
import { bearer, logIn } from '../support/login/login.ts'
import { missingHome, readConfig } from '../support/process/child-home.ts'
import { spawnLatchkey, startChild, waitFor } from '../support/process/child-service.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN, temporaryFolder } from '../support/service.ts'

const run = promisify(execFile)
const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)
const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
)

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8)
}

test('a first start makes a home', async (t) => {
  const service = await startChild(t, { home: await missingHome(t) })
  const { home } = service

  await t.test('whose folders are 0700 and whose files are 0600', async () => {
    assert.equal(await modeOf(home), '700')
    for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      assert.equal(await modeOf(path), entry.isDirectory() ? '700' : '600', path)
    }
  })

  await t.test('with a configuration file that explains itself', async () => {
    const text = await readFile(join(home, 'controller.yml'), 'utf8')
    assert.match(text, /^# /)
    assert.match(text, /^\s*# /m)
    const { web } = await readConfig(home)
    const addresses = web[0].bindPoints.map((point: { address: string }) => point.address)
    assert.deepEqual(addresses, ['localhost:0', '127.0.0.1:0', '[::1]:0'])
  })

  await t.test(
    'with a root CA, an issuing CA and a server certificate for the local names',
    async () => {
      const [root, issuing] = (await readFile(join(home, 'pki', 'ca.pem'), 'utf8'))
        .split(/(?=-----BEGIN)/)
        .map((pem) => new X509Certificate(pem))
      const leaf = new X509Certificate(await readFile(join(home, 'pki', 'server.pem')))
      assert.ok(root?.ca && root.verify(root.publicKey))
      assert.ok(issuing?.ca && issuing.verify(root.publicKey))
      assert.ok(!leaf.ca && leaf.verify(issuing.publicKey))
      assert.equal(leaf.checkHost('localhost', { subject: 'never' }), 'localhost')
      assert.ok(leaf.checkIP('127.0.0.1') && leaf.checkIP('::1'))
    },
  )

  await t.test('with 256 bits of secret, and an administrator in the database', async () => {
    const secret = await readFile(join(home, 'secret'), 'utf8')
    assert.equal(Buffer.from(secret.trim(), 'base64url').length, 32)
    const database = new DatabaseSync(join(home, 'latchkey.db'), { readOnly: true })
    const rows = database.prepare('select name, is_admin from identities').all()
    database.close()
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ name: 'admin', is_admin: 1 }],
    )
  })

  await t.test('and serves at each name of this machine', async () => {
    const { call } = httpClient(service.ca)
    for (const host of hasIpv6 ? ['localhost', '127.0.0.1', '[::1]'] : ['localhost', '127.0.0.1']) {
      const reply = await call(`https://${host}:${service.port}/version`)
      assert.equal(reply.status, 200, host)
    }
    assert.equal((await service.call('/version')).json().data.revision, 'source')
  })

  await t.test(
    'and prints a curl line that works as it is',
    { skip: !hasCurl && 'there is no curl here' },
    async () => {
      const { stdout } = await run('sh', ['-c', `${service.curl} --silent --show-error --fail`])
      const { time: _, ...told } = JSON.parse(stdout).data
      const { time: __, ...expected } = (await service.call('/version')).json().data
      assert.deepEqual(told, expected)
    },
  )

  await t.test('and logs ready once, after all that it makes', () => {
    const messages = service.logLines().map(({ msg }) => msg)
    assert.equal(messages.filter((message) => message === 'ready').length, 1)
    assert.ok(messages.indexOf('a server certificate was issued') < messages.indexOf('ready'))
  })

  await t.test('that a second start finds as it was left', async () => {
    assert.equal((await service.stop()).code, 0)
    const before = await readFile(join(home, 'pki', 'server.pem'), 'utf8')
    const again = await startChild(t, {
      home,
      environment: { LATCHKEY_ADMIN_PASSWORD: 'short' },
    })
    const { access_token: token } = await logIn(again)
    const reply = await again.call('/edge/client/v1/current-identity', bearer(token))
    assert.equal(reply.json().data.name, 'admin')
    assert.equal(await readFile(join(home, 'pki', 'server.pem'), 'utf8'), before)
    const made = again
      .logLines()
      .filter(({ msg }) => / was (created|issued)$| created a CA of its own$/.test(msg))
    assert.deepEqual(made, [])
    const unused = again.logLines().filter(({ msg }) => msg.startsWith('LATCHKEY_ADMIN_PASSWORD'))
    assert.equal(unused.length, 1, 'what has no effect is not ignored in silence')
    assert.equal((await again.stop()).code, 0)
  })
})

test('nothing says ready before it answers', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const environment = { LATCHKEY_ADDRESS: 'localhost:0', LATCHKEY_ADMIN_PASSWORD: ADMIN.password }
  const child = spawnLatchkey(t, ['run', '--home', home], { environment })
  let firstLine: string | undefined
  let answered: Promise<number> | undefined
  child.process.stdout?.on('data', () => {
    firstLine ??= child.output.stdout
    const url = /base URL +(\S+)/.exec(child.output.stdout)?.[1]
    if (url === undefined || answered !== undefined) return
    answered = readFile(join(home, 'pki', 'ca.pem'), 'utf8')
      .then((ca) => httpClient(ca).call(`${url}/version`))
      .then(({ status }) => status)
  })
  await waitFor(
    () => answered !== undefined,
    () => 'a base URL',
    child,
  )
  assert.match(firstLine ?? '', /^Latchkey is ready\.\n/)
  assert.equal(await answered, 200)
})

test('a path that a shell would take apart is quoted in the curl line', {
  skip: !hasCurl && 'there is no curl here',
}, async (t) => {
  const home = join(await temporaryFolder(t), "it's a $HOME; really")
  const service = await startChild(t, { home })
  const { stdout } = await run('sh', ['-c', `${service.curl} --silent --show-error --fail`])
  assert.equal(JSON.parse(stdout).data.version, '0.1.0')
})

test('init prepares everything and starts nothing', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const environment = { LATCHKEY_ADDRESS: 'localhost:0', LATCHKEY_ADMIN_PASSWORD: ADMIN.password }
  const { code, stdout } = await runLatchkey(t, ['init', '--home', home], { environment })
  assert.equal(code, 0)
  assert.equal(stdout, `The home ${home} is prepared.\n`)
  assert.deepEqual((await readdir(home)).sort(), ['controller.yml', 'latchkey.db', 'pki', 'secret'])
  assert.deepEqual((await readdir(join(home, 'pki'))).sort(), [
    'ca.pem',
    'server.key',
    'server.pem',
  ])
  const files = ['controller.yml', 'secret', 'pki/ca.pem', 'pki/server.key', 'pki/server.pem']
  const read = () => Promise.all(files.map((file) => readFile(join(home, file), 'utf8')))
  const before = await read()

  // A second one changes nothing, and a start finds what it needs.
  assert.equal((await runLatchkey(t, ['init', '--home', home])).code, 0)
  const service = await startChild(t, { home, environment: { LATCHKEY_ADMIN_PASSWORD: undefined } })
  await logIn(service)
  assert.deepEqual(await read(), before)
})
