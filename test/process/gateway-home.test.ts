/** A gateway in two commands: enrollment, its home, changes while it runs, and what it cannot start with. D-390 to D-397. */
import assert from 'node:assert/strict'
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { oidcSession } from '../support/edge/live-session.ts'
import { pass, travellerOf } from '../support/edge/real-edge.ts'
import { startUpstream } from '../support/edge/upstream.ts'
import { administrate } from '../support/management.ts'
import { type Child, spawnLatchkey, waitFor } from '../support/process/child-service.ts'
import { commandLineOf } from '../support/process/cli-login.ts'
import { runRefused } from '../support/process/run-command.ts'
import { startService, temporaryFolder } from '../support/service.ts'

async function start(
  t: TestContext,
  args: readonly string[],
): Promise<Child & { readonly url: string }> {
  const child = spawnLatchkey(t, ['gateway', ...args])
  const ready = () => /^The gateway is ready: (https:\/\/\S+) → \S+$/m.exec(child.output.stdout)
  await waitFor(
    () => ready() !== null,
    () => `the ready line\n${child.output.stdout}\n${child.output.stderr}`,
    child,
  )
  return { ...child, url: ready()?.[1] ?? '' }
}

async function stop(child: Child): Promise<void> {
  child.process.kill('SIGTERM')
  assert.equal((await child.finished).code, 0)
}

function lines(child: Child, message: string): readonly Record<string, unknown>[] {
  return child.output.stderr
    .split('\n')
    .filter((line) => line.includes(`"msg":"${message}"`))
    .map((line) => JSON.parse(line))
}

test('a gateway in two commands', async (t) => {
  const service = await startService(t)
  const cli = await commandLineOf(t, service)
  const admin = await administrate(service)
  const folder = await temporaryFolder(t)
  const home = join(folder, 'gw')
  const jwt = join(folder, 'gw1.jwt')
  const upstream = await startUpstream(t)
  const session = await oidcSession(service)
  const traveller = await travellerOf(session)
  const gatewayCa = service.ca

  await t.test(
    'a fresh home works after two commands, and starts alone from then on',
    async (st) => {
      const created = await cli.run('create', 'router', 'gw1', '--host', 'localhost', '--out', jwt)
      assert.equal(created.code, 0, created.stderr)
      const first = await start(st, [
        ...['--home', home, '--enroll', jwt, '--listen', 'localhost:0', '--upstream', upstream.url],
      ])
      assert.match(
        first.output.stdout,
        /^The gateway is enrolled at https:\/\/\S+\. Its home is \S+\n/,
      )
      assert.equal((await pass(st, { url: first.url, gatewayCa }, traveller))?.status, 200)
      for (const name of ['identity.json', 'gateway.yml']) {
        assert.equal((await stat(join(home, name))).mode & 0o777, 0o600, name)
      }
      assert.equal((await stat(home)).mode & 0o777, 0o700)
      await stop(first)

      const second = await start(st, ['--home', home])
      assert.equal((await pass(st, { url: second.url, gatewayCa }, traveller))?.status, 200)
      await stop(second)
    },
  )

  await t.test(
    'changes are picked up without a restart, and a bad file changes nothing',
    async (st) => {
      const openssl = await openOpenssl()
      st.after(() => openssl.close())
      const ca = await openssl.makeCa({ subject: '/CN=public' })
      const extensions = ['extendedKeyUsage=serverAuth', 'subjectAltName=DNS:localhost']
      const made = await openssl.makeLeaf(ca, { subject: '/CN=localhost', extensions })
      const file = join(home, 'gateway.yml')
      const written = await readFile(file, 'utf8')
      const monitored = `${written}monitoring: { listen: 'localhost:0' }\n`
      await writeFile(file, monitored)
      const gateway = await start(st, ['--home', home])
      const subject = async () => {
        const socket = connect({
          host: 'localhost',
          port: Number(new URL(gateway.url).port),
          rejectUnauthorized: false,
        })
        await new Promise((resolve) => socket.once('secureConnect', resolve))
        const { issuer } = socket.getPeerX509Certificate() ?? {}
        socket.destroy()
        return issuer
      }
      const said = (message: string, count = 1) =>
        waitFor(
          () => lines(gateway, message).length >= count,
          () => `${message}\n${gateway.output.stderr}`,
          gateway,
        )
      await writeFile(join(home, 'cert.pem'), made.pem)
      await writeFile(join(home, 'key.pem'), made.keyPem, { mode: 0o600 })
      await writeFile(file, `${monitored}certificate: { cert: cert.pem, key: key.pem }\n`)
      gateway.process.kill('SIGHUP')
      await said('changes were picked up')
      assert.equal(await subject(), 'CN=public')
      const answer = await pass(st, { url: gateway.url, gatewayCa: ca.pem }, traveller)
      assert.equal(answer?.status, 200)

      await writeFile(file, `${monitored}listn: x\n`)
      gateway.process.kill('SIGHUP')
      await said('the changes cannot be used; everything stays as it was')
      const [bad] = lines(gateway, 'the changes cannot be used; everything stays as it was')
      assert.match(String(bad?.['why']), /listn: is not a known key; did you mean listen\?/)
      assert.equal(await subject(), 'CN=public')

      const [health] = lines(gateway, 'health and metrics')
      const ask = async (path: string) =>
        (await fetch(`http://${health?.['listen']}${path}`)).text()
      assert.equal(await ask('/readyz'), 'ok\n')
      assert.match(
        await ask('/metrics'),
        /^latchkey_gateway_requests_total\{outcome="passed"\} 1$/m,
      )

      // The file is noticed without a signal too; an upstream that is not there is 502.
      await writeFile(file, monitored.replace(upstream.url, 'http://localhost:1'))
      await said('changes were picked up', 2)
      assert.equal((await pass(st, { url: gateway.url, gatewayCa }, traveller))?.status, 502)
      await stop(gateway)
      await writeFile(file, written)
    },
  )

  await t.test('a certificate that clients could not accept prevents the start', async () => {
    const broken = join(folder, 'broken')
    await mkdir(broken, { mode: 0o700 })
    for (const name of ['gateway.yml', 'identity.json']) {
      await copyFile(join(home, name), join(broken, name))
    }
    const file = join(broken, 'gateway.yml')
    const text = (await readFile(file, 'utf8')).replace(
      'url:',
      'hosts: [other.example.com]\n    url:',
    )
    await writeFile(file, text)
    const { code, stdout, stderr } = await runRefused(['gateway', '--home', broken])
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.match(
      stderr,
      /cannot use the certificate of its identity: the certificate is not for other\.example\.com/,
    )
  })

  await t.test('what cannot be enrolled is refused, and leaves no half of a home', async (st) => {
    const options = ['--listen', 'localhost:0', '--upstream', upstream.url]
    const refused = async (args: readonly string[], expected: number, sentence: RegExp) => {
      const { code, stdout, stderr } = await runRefused(['gateway', ...args])
      assert.match(stderr, sentence, args.join(' '))
      assert.deepEqual({ code, stdout }, { code: expected, stdout: '' }, args.join(' '))
    }
    const other = join(folder, 'other')
    const at = ['--home', other]
    const tokenOf = async (body: object) => {
      const made = await admin.call('POST', '/identities', {
        isAdmin: false,
        type: 'Default',
        ...body,
      })
      assert.equal(made.status, 201, made.text)
      const path = join(folder, `${made.json().data.id}.jwt`)
      await writeFile(path, made.json().data.enrollment.jwt)
      return path
    }
    const person = await tokenOf({ name: 'somebody', enrollment: { ott: true } })
    const password = await tokenOf({ name: 'somebody else', enrollment: { updb: 'else' } })
    const next = await tokenOf({
      name: 'gw2',
      type: 'Router',
      hosts: ['localhost'],
      enrollment: { ott: true },
    })
    await writeFile(join(folder, 'text'), 'hello')

    await refused(
      [...at, '--enroll', jwt, ...options],
      65,
      /the token was already used, .* "latchkey re-enroll NAME"/,
    )
    const expired = join(folder, 'expired.jwt')
    await writeFile(expired, withClaims(await readFile(next, 'utf8'), { exp: 1 }))
    await refused(
      [...at, '--enroll', expired, ...options],
      65,
      /the token has expired; "latchkey create enrollment --identity NAME" .*ENROLLMENT_EXPIRED/,
    )
    await refused([...at, '--enroll', person, ...options], 65, /the enrollment is not for a router/)
    await refused(
      [...at, '--enroll', password, ...options],
      65,
      /token for a password .*, not for a gateway/,
    )
    await refused(
      [...at, '--enroll', join(folder, 'text'), ...options],
      65,
      /is not an enrollment token/,
    )
    await refused([...at, '--enroll', join(folder, 'none'), ...options], 66, /there is no file/)
    await refused([...at, '--enroll', folder, ...options], 66, /cannot be read: it is a folder/)
    const typed = await readFile(person, 'utf8')
    await refused(
      [...at, '--enroll', typed, ...options],
      64,
      /a JWT must be in a file or on standard/,
    )
    await refused([...at, '--enroll', next, '--listen', 'localhost:0'], 64, /--upstream is missing/)
    await refused([...at, '--enroll', next, '--upstream', upstream.url], 64, /--listen is missing/)
    await refused(
      [...at, '--enroll', next, '--identity', 'x', ...options],
      64,
      /--enroll and --identity cannot be combined/,
    )
    const taken = `127.0.0.1:${new URL(service.baseUrl).port}`
    await refused(
      [...at, '--enroll', next, '--listen', taken, '--upstream', upstream.url],
      1,
      /^latchkey: \S+ is already in use; is the gateway already running\?\n.* change --listen\. The token was not used\.\n$/,
    )
    await assert.rejects(stat(join(other, 'gateway.yml')), { code: 'ENOENT' })
    await refused(
      ['--home', home, '--enroll', next, ...options],
      73,
      /is the home of another gateway/,
    )
    await refused(at, 1, /there is no .*gateway\.yml/)

    // Killed in the middle: the settings are there, and the identity is not.
    await copyFile(join(home, 'gateway.yml'), join(other, 'gateway.yml'))
    await refused(at, 1, /the gateway was not enrolled; start it once with --enroll FILE/)
    const elsewhere = ['--listen', 'localhost:1', '--upstream', upstream.url]
    await refused([...at, '--enroll', next, ...elsewhere], 73, /exists and says something else/)
    const gateway = await start(st, [...at, '--enroll', next])
    assert.equal((await pass(st, { url: gateway.url, gatewayCa }, traveller))?.status, 200)
    await stop(gateway)
  })

  await t.test('the same router enrolls again into its home, which stays as it was', async (st) => {
    const before = JSON.parse(await readFile(join(home, 'identity.json'), 'utf8'))
    const settings = await readFile(join(home, 'gateway.yml'), 'utf8')
    const again = await cli.run('re-enroll', 'gw1', '--yes', '--json')
    assert.equal(again.code, 0, again.stderr)
    await writeFile(jwt, JSON.parse(again.stdout).jwt)
    const gateway = await start(st, ['--home', home, '--enroll', jwt])
    assert.equal((await pass(st, { url: gateway.url, gatewayCa }, traveller))?.status, 200)
    await stop(gateway)
    const after = JSON.parse(await readFile(join(home, 'identity.json'), 'utf8'))
    assert.equal(after.id, before.id)
    assert.notEqual(after.cert, before.cert)
    assert.notEqual(after.key, before.key)
    assert.equal(await readFile(join(home, 'gateway.yml'), 'utf8'), settings)
    const alone = await start(st, ['--home', home])
    await stop(alone)
  })
})

/** The signature no longer fits: the expiry is looked at before anything is sent. */
function withClaims(token: string, claims: object): string {
  const [head, body = '', signature] = token.trim().split('.')
  const old = JSON.parse(Buffer.from(body, 'base64url').toString())
  const changed = Buffer.from(JSON.stringify({ ...old, ...claims })).toString('base64url')
  return [head, changed, signature].join('.')
}
