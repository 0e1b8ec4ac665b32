/**
 * `latchkey login` as people use it, on a terminal and without one, each way to log in by its success and by its
 * commonest mistake.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { registerCa, shows } from '../support/certificates/certificate-login.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { registerIdp } from '../support/idp/jwt-login.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  totpPolicy,
} from '../support/login/authenticator-app.ts'
import { administrate } from '../support/management.ts'
import { cliFor, freshCli, loginTo, nameOf } from '../support/process/cli.ts'
import { ADMIN, startService } from '../support/service.ts'

test('login with a password', async (t) => {
  const service = await startService(t)

  await t.test('asks for it on a terminal, and shows nothing of it', async (t) => {
    const cli = await cliFor(t, service)
    const terminal = cli.open([...loginTo(service), '--username', 'admin'])
    await terminal.sees('Password: ')
    terminal.types(ADMIN.password)
    assert.equal(await terminal.ended(), 0, terminal.output())
    assert.match(terminal.output(), /Logged in as admin at https:\S+, context default\./)
    assert.ok(!terminal.output().includes(ADMIN.password))
    assert.equal(await nameOf(cli), 'admin')
  })

  await t.test('D-456: --bind binds the session to a key, which its commands prove', async (t) => {
    const cli = await cliFor(t, service)
    const login = [...loginTo(service), '--username', 'admin']
    await cli.succeed([...login, '--bind'], `${ADMIN.password}\n`)
    assert.equal(await nameOf(cli), 'admin')
    assert.equal(JSON.parse(await cli.succeed(['token', '--json'])).tokenType, 'DPoP')
    assert.match(await cli.succeed(['list', 'identities']), /admin/)
    await cli.succeed(['logout'])
    await cli.succeed(login, `${ADMIN.password}\n`)
    assert.equal(JSON.parse(await cli.succeed(['token', '--json'])).tokenType, 'Bearer')
  })

  await t.test('ends the session again if it cannot be stored', async (t) => {
    const cli = await cliFor(t, service)
    const folder = join(cli.configFolder, 'latchkey')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(join(folder, 'credentials'), 'not a folder')
    const admin = await administrate(service)
    const live = async () => (await admin.get('/api-sessions?limit=500')).length
    const before = await live()
    const { code, stderr } = await cli.run(
      [...loginTo(service), '--username', 'admin'],
      ADMIN.password,
    )
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `latchkey: ${folder} cannot be written: something that is not a folder is in the way\n`,
    )
    assert.equal(await live(), before)
  })

  await t.test('reads it from standard input where there is no terminal', async (t) => {
    const cli = await cliFor(t, service)
    const stdout = await cli.succeed(
      [...loginTo(service), '--username', 'admin'],
      `${ADMIN.password}\n`,
    )
    assert.equal(stdout, `Logged in as admin at ${service.baseUrl}, context default.\n`)
  })

  await t.test(
    'R063: other users cannot read what it stored, and no password is stored',
    async (t) => {
      const cli = await cliFor(t, service)
      await cli.succeed([...loginTo(service), '--username', 'admin'], ADMIN.password)
      const folder = join(cli.configFolder, 'latchkey')
      const modeOf = async (...path: string[]) => (await stat(join(folder, ...path))).mode & 0o777
      assert.equal(await modeOf(), 0o700)
      assert.equal(await modeOf('credentials'), 0o700)
      assert.equal(await modeOf('credentials', 'default.json'), 0o600)
      assert.equal(await modeOf('contexts.json'), 0o600)
      const kept = await readFile(join(folder, 'credentials', 'default.json'), 'utf8')
      assert.ok(!kept.includes(ADMIN.password))
      const listed = await readFile(join(folder, 'contexts.json'), 'utf8')
      const { session } = await cli.credentials()
      assert.ok(!listed.includes(session.refreshToken) && !listed.includes(session.accessToken))

      await chmod(join(folder, 'credentials', 'default.json'), 0o644)
      const { code, stdout, stderr } = await cli.run(['token'])
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
      assert.match(stderr, /every user of this machine can access \S+default\.json; run: chmod 600/)
    },
  )

  await t.test('a wrong one is refused with exit code 77 and no login', async (t) => {
    const cli = await cliFor(t, service)
    const args = [...loginTo(service), '--username', 'admin']
    const { code, stdout, stderr } = await cli.run(args, 'not the password\n')
    assert.deepEqual({ code, stdout }, { code: 77, stdout: '' })
    // With the id, an administrator finds out why: latchkey explain.
    assert.match(stderr, /^latchkey: the login was refused \(INVALID_AUTH\) \[request \w{19}\]\n$/)
    assert.equal((await cli.run(['whoami'])).code, 77)
  })

  await t.test('Ctrl-C at the question is exit code 130', async (t) => {
    const cli = await cliFor(t, service)
    const terminal = cli.open([...loginTo(service), '--username', 'admin'])
    await terminal.sees('Password: ')
    terminal.presses('\u0003')
    assert.equal(await terminal.ended(), 130)
  })

  await t.test('an input without a line is exit code 64, and says what was missing', async (t) => {
    const cli = await cliFor(t, service)
    const { code, stderr } = await cli.run([...loginTo(service), '--username', 'admin'])
    assert.equal(code, 64)
    assert.match(stderr, /standard input has no line for "Password"/)
  })

  await t.test('another login ends the session of the one before', async (t) => {
    const cli = await cliFor(t, service)
    await cli.succeed([...loginTo(service), '--username', 'admin'], ADMIN.password)
    const { session: before } = await cli.credentials()
    // The server and its CA are known by now.
    await cli.succeed(['login', '--username', 'admin'], ADMIN.password)
    const late = await service.call('/edge/client/v1/current-identity', {
      headers: { authorization: `Bearer ${before.accessToken}` },
    })
    assert.equal(late.status, 401)
    assert.equal(late.json().error.code, 'UNAUTHORIZED')
    assert.equal(await nameOf(cli), 'admin')
  })
})

test('a server that is not known yet', async (t) => {
  const service = await startService(t)
  const { fingerprint256 } = new X509Certificate(service.ca)
  const login = ['login', '--url', service.baseUrl, '--username', 'admin']

  await t.test('is trusted after its fingerprint was shown and confirmed', async (t) => {
    const cli = await freshCli(t)
    const terminal = cli.open(login)
    await terminal.sees(fingerprint256)
    await terminal.sees('(yes/no) ')
    terminal.types('y')
    // An answer that is neither is no answer.
    await terminal.sees('(yes/no) ')
    terminal.types('yes')
    await terminal.sees('Password: ')
    terminal.types(ADMIN.password)
    assert.equal(await terminal.ended(), 0, terminal.output())
    assert.equal(await nameOf(cli), 'admin')
  })

  // Somebody in between shows a CA of his own: D-152. Nothing is sent to him, and he is not remembered.
  await t.test('is not trusted after a no, and is asked for no password', async (t) => {
    const cli = await freshCli(t)
    const terminal = cli.open(login)
    await terminal.sees('(yes/no) ')
    terminal.types('no')
    assert.equal(await terminal.ended(), 76)
    assert.match(terminal.output(), /the CA was not confirmed/)
    assert.ok(!terminal.output().includes('Password'))
    assert.equal(await cli.succeed(['context', 'list', '--json']), '[]\n')
  })

  await t.test('is not trusted without a terminal to ask on', async (t) => {
    const cli = await freshCli(t)
    const { code, stderr } = await cli.run(login, ADMIN.password)
    assert.equal(code, 76)
    assert.match(stderr, /--ca FILE, or its SHA-256 with --ca-fingerprint/)
  })

  await t.test('is trusted by a fingerprint that is given, and by no other', async (t) => {
    const cli = await freshCli(t)
    const other = fingerprint256.replace(/^../, (two) => (two === '00' ? '01' : '00'))
    const refused = await cli.run([...login, '--ca-fingerprint', other], ADMIN.password)
    assert.equal(refused.code, 76)
    assert.ok(refused.stderr.includes(`--ca-fingerprint: ${fingerprint256}; ask`), refused.stderr)
    const plain = fingerprint256.replaceAll(':', '').toLowerCase()
    for (const good of [fingerprint256, plain, `SHA256:${plain}`]) {
      await cli.succeed([...login, '--ca-fingerprint', good], ADMIN.password)
    }
  })

  // D-166: another server at the same address. Whoever has logged in there before is not asked, but refused.
  await t.test('in the place of a known one is refused without a question', async (t) => {
    const cli = await cliFor(t, await startService(t))
    await cli.succeed([...login, '--ca-fingerprint', fingerprint256], ADMIN.password)
    const file = join(cli.configFolder, 'latchkey', 'contexts.json')
    const listed = JSON.parse(await readFile(file, 'utf8'))
    listed.contexts.default.ca = await readFile(join(cli.home, 'ca.pem'), 'utf8')
    await writeFile(file, JSON.stringify(listed))
    const terminal = cli.open(['login', '--username', 'admin'])
    assert.equal(await terminal.ended(), 76, terminal.output())
    assert.ok(!terminal.output().includes('(yes/no)'))
    assert.ok(!terminal.output().includes('Password'))
  })
})

test('login with a second factor', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('asks for the TOTP code, and again when it is wrong', async (t) => {
    const person = await enrolledPerson(service, admin)
    const cli = await cliFor(t, service)
    const terminal = cli.open([...loginTo(service), '--username', person.username])
    await terminal.sees('Password: ')
    terminal.types(PASSWORD)
    await terminal.sees('Code ')
    terminal.types(person.app.wrongCode())
    await terminal.sees('Wrong code. Try again: ')
    terminal.types(person.app.nextCode())
    assert.equal(await terminal.ended(), 0, terminal.output())
    assert.equal(await nameOf(cli), person.name)
  })

  await t.test('takes password and code as two lines of standard input', async (t) => {
    const person = await enrolledPerson(service, admin)
    const cli = await cliFor(t, service)
    const input = `${PASSWORD}\n${person.app.nextCode()}\n`
    await cli.succeed([...loginTo(service), '--username', person.username], input)
  })

  await t.test('a wrong code without a terminal is a refused login', async (t) => {
    const person = await enrolledPerson(service, admin)
    const cli = await cliFor(t, service)
    const command = [...loginTo(service), '--username', person.username]
    const wrong = person.app.wrongCode()
    const { code, stdout, stderr } = await cli.run(command, `${PASSWORD}\n${wrong}\n`)
    assert.deepEqual({ code, stdout }, { code: 77, stdout: '' }, stderr)
    assert.match(stderr, /^latchkey: the code is wrong \(MFA_INVALID_TOKEN\) \[request \S+\]\n$/)
    // Without any code, the input is incomplete.
    const without = await cli.run(command, `${PASSWORD}\n`)
    assert.equal(without.code, 64, without.stderr)
  })

  await t.test(
    'enrolls TOTP where it is demanded, with a QR code, the secret and recovery codes',
    async (t) => {
      const policy = await totpPolicy(admin)
      const person = await admin.createIdentity({ password: PASSWORD, policy })
      const cli = await cliFor(t, service)
      const terminal = cli.open([...loginTo(service), '--username', person.username])
      await terminal.sees('Password: ')
      terminal.types(PASSWORD)
      await terminal.sees('First code of the app: ')
      const [, secret = ''] = /enter this secret: ([A-Z2-7]+)/.exec(terminal.output()) ?? []
      const [, codes = ''] = /safe place:\s+([\s\S]*?)First code/.exec(terminal.output()) ?? []
      assert.match(terminal.output(), /█▀▀▀▀▀█/)
      const app = authenticatorApp(`otpauth://totp/x:y?secret=${secret}`, service.clock)
      terminal.types(app.code())
      assert.equal(await terminal.ended(), 0, terminal.output())

      const [recoveryCode = ''] = codes.trim().split(/\s+/)
      const input = `${PASSWORD}\n${recoveryCode}\n`
      await cli.succeed(['login', '--username', person.username], input)
    },
  )

  await t.test('enrolls nothing without a terminal', async (t) => {
    const policy = await totpPolicy(admin)
    const person = await admin.createIdentity({ password: PASSWORD, policy })
    const cli = await cliFor(t, service)
    const { code, stdout, stderr } = await cli.run(
      [...loginTo(service), '--username', person.username],
      `${PASSWORD}\n000000\n`,
    )
    assert.deepEqual({ code, stdout }, { code: 77, stdout: '' })
    assert.match(stderr, /^latchkey: TOTP must be enrolled first; that is done at a login in a /)
  })

  await t.test('asks for the JWT of a second signer', async (t) => {
    const idp = await registerIdp(t, service, admin, { issuer: 'https://second.example/' })
    const policy = await admin.createPolicy({ secondary: { requireExtJwt: idp.id } })
    const person = await admin.createIdentity({ password: PASSWORD, policy, externalId: 'ada' })
    const cli = await cliFor(t, service)
    const jwt = await idp.jwt('ada')
    const terminal = cli.open([...loginTo(service), '--username', person.username])
    await terminal.sees('Password: ')
    terminal.types(PASSWORD)
    await terminal.sees('JWT of https://second.example/: ')
    terminal.types(jwt)
    assert.equal(await terminal.ended(), 0, terminal.output())
    assert.ok(!terminal.output().includes(jwt.slice(0, 20)))
  })
})

test('login with a certificate, with an external JWT', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('a certificate logs in, and its key is copied nowhere (D-164)', async (t) => {
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const ca = await openssl.makeCa()
    await registerCa(admin, openssl, ca)
    const leaf = await openssl.makeLeaf(ca)
    const policy = await admin.createPolicy({
      primary: { cert: { allowed: true, bindTokens: true } },
    })
    const person = await admin.createIdentity({ certPem: leaf.pem, policy })
    const cli = await cliFor(t, service)
    const { cert, key } = shows(leaf)
    await writeFile(join(cli.home, 'cert.pem'), cert)
    await writeFile(join(cli.home, 'key.pem'), key, { mode: 0o600 })
    await cli.succeed([...loginTo(service), '--cert', 'cert.pem', '--key', 'key.pem'])
    // API 4.4: the token counts only beside the certificate, so that has to be shown again.
    assert.equal(await nameOf(cli), person.name)
    assert.deepEqual((await cli.credentials()).certificate, {
      cert: join(cli.home, 'cert.pem'),
      key: join(cli.home, 'key.pem'),
    })

    await chmod(join(cli.home, 'key.pem'), 0o644)
    const refused = await cli.run(['login', '--cert', 'cert.pem', '--key', 'key.pem'])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /every user of this machine can access \S+key\.pem/)
  })

  await t.test('a JWT comes from a file or from standard input', async (t) => {
    const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example/' })
    const person = await admin.createIdentity({ externalId: 'alice' })
    const cli = await cliFor(t, service)
    await cli.succeed([...loginTo(service), '--ext-jwt', '-'], `${await idp.jwt('alice')}\n`)
    assert.equal(await nameOf(cli), person.name)
    await writeFile(join(cli.home, 'jwt'), await idp.expired('alice'))
    const expired = await cli.run([...loginTo(service), '--ext-jwt', 'jwt'])
    assert.equal(expired.code, 77)
    // It may be a password in the wrong place: it is not repeated.
    const wrong = await cli.run([...loginTo(service), '--ext-jwt', '-'], 'hunter2\n')
    assert.equal(wrong.code, 65)
    assert.equal(wrong.stderr, 'latchkey: the input of --ext-jwt contains no JWT\n')
  })
})
