/**
 * What a login leaves for the commands after it: a session that several processes share, certificates, contexts, and the
 * end of it all. D-164, D-165.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { administrate } from '../support/management.ts'
import { freePort, webAt } from '../support/ports.ts'
import { type Cli, cliFor, freshCli } from '../support/process/cli.ts'
import { ADMIN, type Service, startService } from '../support/service.ts'

async function loggedIn(t: TestContext, service: Service, ...args: string[]): Promise<Cli> {
  const cli = await cliFor(t, service)
  await logIn(cli, service, ...args)
  return cli
}

function logIn(cli: Cli, { baseUrl }: Service, ...args: string[]): Promise<string> {
  const login = ['login', '--url', baseUrl, '--ca', 'ca.pem', '--username', 'admin']
  return cli.succeed([...login, ...args], `${ADMIN.password}\n`)
}

/** As if the access token had been issued long ago. */
async function age(cli: Cli): Promise<void> {
  const { session, ...rest } = await cli.credentials()
  await cli.keepCredentials({ ...rest, session: { ...session, expiresAt: 0 } })
}

const callWith = (service: Service, token: string) =>
  service.call('/edge/client/v1/current-identity', {
    headers: { authorization: `Bearer ${token}` },
  })

test('a command says that the address of the server was changed, and what to do', async (t) => {
  const port = await freePort()
  const before = await startService(t, { config: { web: webAt(port) } })
  const cli = await loggedIn(t, before)
  await before.stop()
  const other = await freePort()
  await startService(t, { home: before.home, config: { web: webAt(port, other) } })
  for (const command of [['whoami'], ['list', 'identities'], ['token']]) {
    const { code, stderr } = await cli.run(command)
    assert.equal(code, 65)
    assert.match(
      stderr,
      new RegExp(
        `^latchkey: https://localhost:${port} is not an address of this server \\(invalid_request\\) \\[request \\w+\\]; ` +
          'if its address was changed, log in at the new one: latchkey login --url https://HOST:PORT\n$',
      ),
    )
  }
})

test('a fresh token', async (t) => {
  const service = await startService(t)

  await t.test('is printed alone, or with its end as JSON', async (t) => {
    const cli = await loggedIn(t, service)
    const token = (await cli.succeed(['token'])).trimEnd()
    assert.equal((await callWith(service, token)).status, 200)
    const json = JSON.parse(await cli.succeed(['token', '--json']))
    assert.deepEqual(Object.keys(json), ['accessToken', 'tokenType', 'expiresAt'])
    // Nothing was refreshed in between.
    assert.equal(json.accessToken, token)
    assert.ok(Date.parse(json.expiresAt) > Date.now())
  })

  await t.test('is refreshed when it has expired, and what came is kept', async (t) => {
    const cli = await loggedIn(t, service)
    const { session: before } = await cli.credentials()
    await age(cli)
    const token = (await cli.succeed(['token'])).trimEnd()
    assert.notEqual(token, before.accessToken)
    const { session: after } = await cli.credentials()
    assert.equal(after.accessToken, token)
    assert.notEqual(after.refreshToken, before.refreshToken)
    const file = join(cli.configFolder, 'latchkey', 'credentials', 'default.json')
    assert.equal((await stat(file)).mode & 0o777, 0o600)
  })

  // R039: the second use of a refresh token ends the session. Six commands of one person start at the same moment, and
  // all of them find the same token in the same file.
  await t.test('D-165: of processes that refresh at once, one does', async (t) => {
    const cli = await loggedIn(t, service)
    const { session: before } = await cli.credentials()
    await age(cli)
    const tokens = await Promise.all(Array.from({ length: 6 }, () => cli.succeedApart(['token'])))
    assert.equal(new Set(tokens).size, 1)
    assert.notEqual(tokens[0], `${before.accessToken}\n`)
    await age(cli)
    await cli.succeed(['whoami'])
  })

  await t.test('a token that the server no longer takes is refreshed too', async (t) => {
    const cli = await loggedIn(t, service)
    const { session, ...rest } = await cli.credentials()
    const spoilt = `${session.accessToken.slice(0, -4)}AAAA`
    await cli.keepCredentials({ ...rest, session: { ...session, accessToken: spoilt } })
    assert.match(await cli.succeed(['whoami']), /^name +admin$/m)
    assert.notEqual((await cli.credentials()).session.accessToken, spoilt)
  })

  await t.test(
    'a session that was ended is exit code 77, and its tokens are forgotten',
    async (t) => {
      const cli = await loggedIn(t, service)
      const { session } = await cli.credentials()
      const admin = await administrate(service)
      const { session: about } = JSON.parse(await cli.succeed(['whoami', '--json']))
      await admin.act('DELETE', `/api-sessions/${about.id}`)
      assert.equal((await callWith(service, session.accessToken)).status, 401)
      const { code, stdout, stderr } = await cli.run(['whoami'])
      assert.deepEqual({ code, stdout }, { code: 77, stdout: '' })
      assert.match(stderr, /^latchkey: .* \[request \w{19}\]; run: latchkey login\n$/)
      const again = await cli.run(['token'])
      assert.equal(again.code, 77)
      assert.equal(again.stderr, 'latchkey: not logged in (context default); run: latchkey login\n')
    },
  )

  await t.test('unreadable credentials are reported, without their content', async (t) => {
    const cli = await loggedIn(t, service)
    const file = join(cli.configFolder, 'latchkey', 'credentials', 'default.json')
    await writeFile(file, '{"session": {"accessToken": "hunter2"}}')
    const { code, stderr } = await cli.run(['token'])
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `latchkey: ${file} cannot be read; fix it, or delete it and log in again\n`,
    )
  })
})

test('before any login every command says what to do, with exit code 77', async (t) => {
  const cli = await freshCli(t)
  for (const args of [
    ['whoami'],
    ['token'],
    ['logout'],
    ['cert', '--out', 'here'],
    ['mfa', 'status'],
    ['keys', 'list'],
  ]) {
    const { code, stdout, stderr } = await cli.run(args)
    assert.deepEqual({ code, stdout }, { code: 77, stdout: '' }, args.join(' '))
    assert.equal(stderr, 'latchkey: not logged in; run: latchkey login --url URL\n')
  }
  assert.deepEqual(await readdir(cli.home), [])
})

test('logout', async (t) => {
  const service = await startService(t)

  await t.test('ends the session on the server and forgets its tokens', async (t) => {
    const cli = await loggedIn(t, service)
    const { session } = await cli.credentials()
    await age(cli)
    assert.equal(
      await cli.succeed(['logout']),
      `Logged out of ${service.baseUrl}, context default.\n`,
    )
    assert.equal((await callWith(service, session.accessToken)).status, 401)
    await assert.rejects(cli.credentials(), { code: 'ENOENT' })
    assert.equal((await cli.run(['logout'])).code, 77)
  })

  await t.test('D-381: waits until the end is confirmed, if it is asked to', async (t) => {
    const cli = await loggedIn(t, service)
    const { code, stderr } = await cli.run(['logout', '--wait', '61'])
    assert.equal(code, 64)
    assert.match(stderr, /from 0 to 60/)
    assert.match(
      await cli.succeed(['logout', '--wait', '10']),
      /^Logged out of .*\nConfirmed by 1 of 1 routers and instances\.\n$/,
    )
  })

  await t.test('without an answer is exit code 69, and can be done again', async (t) => {
    const other = await startService(t)
    const cli = await loggedIn(t, other)
    await other.stop()
    const { code, stdout } = await cli.run(['logout'])
    assert.deepEqual({ code, stdout }, { code: 69, stdout: '' })
    assert.ok((await cli.credentials()).session.refreshToken)
  })
})

test('a session certificate', async (t) => {
  const service = await startService(t)

  await t.test('is written with its key, which other users cannot read', async (t) => {
    const cli = await loggedIn(t, service)
    const files = JSON.parse(await cli.succeed(['cert', '--out', 'made/here', '--json']))
    const folder = join(cli.home, 'made', 'here')
    assert.deepEqual(
      [files.key, files.cert, files.ca],
      ['session-key.pem', 'session-cert.pem', 'session-ca.pem'].map((name) => join(folder, name)),
    )
    const certificate = new X509Certificate(await readFile(files.cert, 'utf8'))
    const key = await readFile(files.key, 'utf8')
    assert.ok(certificate.checkPrivateKey(createPrivateKey(key)))
    assert.equal((await stat(files.key)).mode & 0o777, 0o600)
    assert.equal(Date.parse(files.validTo), certificate.validToDate.getTime())
    // The one of before is replaced.
    assert.match(await cli.succeed(['cert', '--out', 'made/here']), /^valid until +\S+Z, and/m)
    assert.notEqual(await readFile(files.key, 'utf8'), key)
  })

  await t.test('needs a place to go to', async (t) => {
    const cli = await freshCli(t)
    const { code, stderr } = await cli.run(['cert'])
    assert.equal(code, 64)
    assert.match(stderr, /^latchkey: "cert" needs --out\n/)
  })
})

test('contexts', async (t) => {
  const [first, second] = [await startService(t), await startService(t)]
  const cli = await loggedIn(t, first)
  await writeFile(join(cli.home, 'ca.pem'), second.ca)
  await logIn(cli, second, '--context', 'work')
  const urlOf = async (...args: string[]) =>
    JSON.parse(await cli.succeed(['whoami', '--json', ...args])).url

  await t.test('are several logins side by side; the last one is the current one', async () => {
    assert.equal(await urlOf(), second.baseUrl)
    assert.equal(await urlOf('--context', 'default'), first.baseUrl)
    const table = await cli.succeed(['context', 'list'])
    assert.match(table, /^CURRENT +NAME +SERVER +LOGGED IN$/m)
    assert.match(table, new RegExp(`^\\* +work +${second.baseUrl} +yes$`, 'm'))
  })

  await t.test('one is made the current one by its name', async () => {
    await cli.succeed(['context', 'use', 'default'])
    assert.equal(await urlOf(), first.baseUrl)
  })

  await t.test('an unknown name is exit code 64, and the known ones are listed', async () => {
    for (const args of [
      ['context', 'use', 'wrok'],
      ['context', 'remove', 'wrok'],
      ['token', '--context', 'constructor'],
    ]) {
      const { code, stderr } = await cli.run(args)
      assert.equal(code, 66, args.join(' '))
      assert.match(stderr, /^latchkey: there is no context "\w+"; there is default, work\n/)
    }
  })

  await t.test('one that is removed takes its credentials along', async () => {
    await cli.succeed(['context', 'remove', 'work'])
    await assert.rejects(cli.credentials('work'), { code: 'ENOENT' })
    assert.deepEqual(JSON.parse(await cli.succeed(['context', 'list', '--json'])), [
      { name: 'default', url: first.baseUrl, isCurrent: true, isLoggedIn: true },
    ])
  })

  await t.test('several processes that write at once lose nothing', async () => {
    await writeFile(join(cli.home, 'ca.pem'), first.ca)
    const names = ['a', 'b', 'c', 'd']
    await Promise.all(names.map((name) => logIn(cli, first, '--context', name)))
    const listed = JSON.parse(await cli.succeed(['context', 'list', '--json']))
    assert.deepEqual(
      listed.map(({ name }: { name: string }) => name),
      [...names, 'default'],
    )
  })

  await t.test('whose file cannot be read are not treated as missing', async () => {
    const file = join(cli.configFolder, 'latchkey', 'contexts.json')
    await writeFile(file, '{"contexts": {')
    for (const args of [['context', 'list'], ['whoami'], ['context', 'use', 'default']]) {
      const { code, stdout, stderr } = await cli.run(args)
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' }, args.join(' '))
      assert.match(
        stderr,
        /contexts\.json cannot be read; fix it, or delete it and log in again\n$/,
      )
    }
    assert.equal(await readFile(file, 'utf8'), '{"contexts": {')
  })
})
