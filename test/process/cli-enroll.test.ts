/**
 * `latchkey enroll`, by every method: the identity file that comes of it, the password that is asked for, the certificate
 * of a CA. D-126, D-127, D-131. Whatever is refused leaves the token good.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { registerCa } from '../support/certificates/certificate-login.ts'
import { inviteNew, PASSWORD } from '../support/certificates/enrollment.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { administrate } from '../support/management.ts'
import { freshCli } from '../support/process/cli.ts'
import { FAST_PROGRAM } from '../support/process/program.ts'
import { startService } from '../support/service.ts'

const execute = promisify(execFile)
const openssl = await openOpenssl()
after(() => openssl.close())

test('an invitation', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('becomes an identity file, which logs in without any other word', async (t) => {
    const invited = await inviteNew(admin, { ott: true })
    const cli = await freshCli(t)
    await writeFile(join(cli.home, 'token.jwt'), `${invited.jwt}\n`)
    const stdout = await cli.succeed(['enroll', 'token.jwt', '--out', 'me.json'])
    const file = join(cli.home, 'me.json')
    assert.match(stdout, new RegExp(`^identity +${invited.identityId}$`, 'm'))
    assert.ok(!stdout.includes('PRIVATE KEY'))
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const identity = JSON.parse(await readFile(file, 'utf8'))
    assert.deepEqual(Object.keys(identity), ['id', 'url', 'ca', 'cert', 'key'])

    await cli.succeed(['login', '--identity', 'me.json'])
    const { identity: who } = JSON.parse(await cli.succeed(['whoami', '--json']))
    assert.deepEqual([who.id, who.name], [invited.identityId, invited.name])
    // The key stays in its one file.
    const kept = JSON.stringify(await cli.credentials())
    assert.ok(!kept.includes('PRIVATE KEY'))
  })

  await t.test('a JWT on the command line is refused, and not repeated', async (t) => {
    const { jwt } = await inviteNew(admin, { ott: true })
    const cli = await freshCli(t)
    const long = `${jwt.slice(0, 20)}${'a'.repeat(5_000)}.b.c`
    const commands = [
      ['enroll', jwt, '--out', 'me.json'],
      ['enroll', long, '--out', 'me.json'],
      ['login', '--url', service.baseUrl, '--ext-jwt', jwt],
    ]
    for (const args of commands) {
      const { code, stderr } = await cli.run(args)
      assert.equal(code, 64, stderr)
      assert.match(
        stderr,
        /^latchkey: a JWT must be in a file or on standard input \(-\), because /,
      )
      assert.ok(!stderr.includes(jwt.slice(0, 20)))
    }
    // The token is still good.
    await cli.succeed(['enroll', '-', '--out', 'me.json'], `${jwt}\n`)
  })

  await t.test('a path that cannot be used is named in plain words', async (t) => {
    const { jwt } = await inviteNew(admin, { ott: true })
    const cli = await freshCli(t)
    const out = await cli.run(['enroll', '-', '--out', 'no/me.json'], `${jwt}\n`)
    assert.equal(out.code, 1)
    const path = join(cli.home, 'no', 'me.json')
    assert.equal(out.stderr, `latchkey: ${path} cannot be written: the folder does not exist\n`)
    const folder = await cli.run(['enroll', '.', '--out', 'me.json'])
    assert.equal(folder.code, 66)
    assert.match(folder.stderr, /^latchkey: \. cannot be read: it is a folder\n/)
  })

  await t.test(
    'R063: the mode of files that a command creates does not depend on the umask',
    async (t) => {
      const { jwt } = await inviteNew(admin, { ott: true })
      const cli = await freshCli(t)
      const token = join(cli.home, 'token.jwt')
      await writeFile(token, jwt)
      const before = await readdir(cli.home)
      for (const args of [
        ['enroll', token, '--out', 'me.json'],
        ['login', '--identity', 'me.json', '--context', 'device'],
        ['token'],
        ['cert', '--out', 'certificates/of-the-session'],
        ['context', 'use', 'device'],
        ['logout'],
      ]) {
        // The default permissions of a new file, unless the code sets others.
        const line = ['umask 0 && exec "$@"', 'sh', process.execPath, FAST_PROGRAM, ...args]
        await execute('sh', ['-c', ...line], { cwd: cli.home, env: cli.environment })
      }
      const created = (await readdir(cli.home, { recursive: true })).filter((path) => {
        return !before.includes(path)
      })
      assert.ok(created.includes('config/latchkey/contexts.lock'), created.join())
      assert.ok(created.includes('config/latchkey/credentials/device.lock'), created.join())
      for (const path of created) {
        const stats = await stat(join(cli.home, path))
        assert.equal(stats.mode & 0o777, stats.isDirectory() ? 0o700 : 0o600, path)
      }
    },
  )

  await t.test('comes from standard input too', async (t) => {
    const { jwt, identityId } = await inviteNew(admin, { ott: true })
    const cli = await freshCli(t)
    const args = ['enroll', '-', '--out', 'me.json', '--json']
    assert.equal(JSON.parse(await cli.succeed(args, jwt)).id, identityId)
  })

  await t.test('is not spent on a file that exists', async (t) => {
    const { jwt } = await inviteNew(admin, { ott: true })
    const cli = await freshCli(t)
    await writeFile(join(cli.home, 'me.json'), 'precious')
    const { code, stderr } = await cli.run(['enroll', '-', '--out', 'me.json'], jwt)
    assert.equal(code, 1)
    assert.match(stderr, /me\.json exists; an identity is never overwritten\n$/)
    assert.equal(await readFile(join(cli.home, 'me.json'), 'utf8'), 'precious')
    await cli.succeed(['enroll', '-', '--out', 'other.json'], jwt)
  })

  await t.test('works once, and leaves no file when it does not', async (t) => {
    const { jwt } = await inviteNew(admin, { ott: true })
    const cli = await freshCli(t)
    await cli.succeed(['enroll', '-', '--out', 'first.json'], jwt)
    const { code, stderr } = await cli.run(['enroll', '-', '--out', 'second.json'], jwt)
    assert.equal(code, 65, stderr)
    assert.match(stderr, /\(ENROLLMENT_USED\)/)
    assert.deepEqual(await readdir(cli.home), ['first.json'])
  })

  await t.test('names a token that is not valid, and does not repeat it', async (t) => {
    const cli = await freshCli(t)
    const wrong = await cli.run(['enroll', '-', '--out', 'me.json'], 'hunter2\n')
    assert.equal(wrong.code, 65)
    assert.equal(wrong.stderr, 'latchkey: this is not the JWT of an enrollment\n')
    const missing = await cli.run(['enroll', 'token.jwt', '--out', 'me.json'])
    assert.equal(missing.code, 66)
    assert.match(missing.stderr, /there is no file token\.jwt/)
    assert.deepEqual(await readdir(cli.home), [])
  })

  await t.test('to a certificate needs a place to go to, and is not spent without', async (t) => {
    const { jwt } = await inviteNew(admin, { ott: true })
    const cli = await freshCli(t)
    const without = await cli.run(['enroll', '-'], jwt)
    assert.equal(without.code, 64)
    assert.match(
      without.stderr,
      /^latchkey: "enroll" needs --out: this enrollment is one with a certificate\n/,
    )
    const foreign = await cli.run(['enroll', '-', '--out', 'me.json', '--username', 'x'], jwt)
    assert.equal(foreign.code, 64)
    assert.match(
      foreign.stderr,
      /^latchkey: this enrollment is one with a certificate, which takes no --username\n/,
    )
    await cli.succeed(['enroll', '-', '--out', 'me.json'], jwt)
  })

  await t.test('to a password asks for it twice, and says how to log in', async (t) => {
    const { jwt, identityId } = await inviteNew(admin, { updb: 'ada' })
    const cli = await freshCli(t)
    await writeFile(join(cli.home, 'token.jwt'), jwt)
    const terminal = cli.open(['enroll', 'token.jwt'], { columns: 250 })
    await terminal.sees(`Choose a password for ${service.baseUrl}\r\n`)
    await terminal.sees('Username: ')
    terminal.types('ada')
    await terminal.sees('New password: ')
    terminal.types(PASSWORD)
    await terminal.sees('Repeat it: ')
    terminal.types(`${PASSWORD}?`)
    await terminal.sees('The two do not match.')
    await terminal.sees('New password: ')
    terminal.types('short')
    await terminal.sees('Repeat it: ')
    terminal.types('short')
    await terminal.sees('The new password must have at least 8 characters (COULD_NOT_VALIDATE).')
    await terminal.sees('New password: ')
    terminal.types(PASSWORD)
    await terminal.sees('Repeat it: ')
    terminal.types(PASSWORD)
    await terminal.sees(identityId)
    await terminal.sees('To log in: latchkey ')
    assert.equal(await terminal.ended(), 0)
    assert.ok(!terminal.output().includes(PASSWORD))

    // What is said works as it stands, on a machine that knows nothing of the server.
    const [, line = ''] = /To log in: latchkey (.*?)\r?\n/.exec(terminal.output()) ?? []
    await cli.succeed(line.split(' '), `${PASSWORD}\n`)
    const { identity } = JSON.parse(await cli.succeed(['whoami', '--json']))
    assert.equal(identity.id, identityId)
  })

  await t.test(
    'for a password, reads one line for each question if there is no terminal',
    async (t) => {
      const { jwt, identityId } = await inviteNew(admin, { updb: 'robot' })
      const cli = await freshCli(t)
      const weak = await cli.run(['enroll', '-'], `${jwt}\nrobot\npassword123\n`)
      assert.equal(weak.code, 65)
      assert.match(
        weak.stderr,
        /^latchkey: the new password is one of the most common passwords \(COULD_NOT_VALIDATE\) /,
      )
      const wrong = await cli.run(['enroll', '-', '--username', 'rob'], `${jwt}\n${PASSWORD}\n`)
      assert.equal(wrong.code, 65)
      assert.match(wrong.stderr, /this is not the username of the enrollment/)
      const out = await cli.run(['enroll', '-', '--out', 'me.json'], jwt)
      assert.equal(out.code, 64)
      assert.match(out.stderr, /this enrollment is one with a password, which takes no --out/)
      const args = ['enroll', '-', '--username', 'robot', '--json']
      const { id, username } = JSON.parse(await cli.succeed(args, `${jwt}\n${PASSWORD}\n`))
      assert.deepEqual([id, username], [identityId, 'robot'])
      assert.deepEqual(await readdir(cli.home), [])
    },
  )

  await t.test('with a certificate of the CA becomes a login with it', async (t) => {
    const ca = await openssl.makeCa({ subject: '/CN=Factory' })
    const caId = await registerCa(admin, openssl, ca, { isOttCaEnrollmentEnabled: true })
    const { jwt, identityId } = await inviteNew(admin, { ottca: caId })
    const cli = await freshCli(t)
    const leaf = await openssl.makeLeaf(ca)
    const stranger = await openssl.makeLeaf(await openssl.makeCa({ subject: '/CN=Else' }))
    for (const [name, { pem, keyPem }] of Object.entries({ leaf, stranger })) {
      await writeFile(join(cli.home, `${name}.pem`), pem)
      await writeFile(join(cli.home, `${name}.key`), keyPem, { mode: 0o600 })
    }
    const files = (name: string) => ['--cert', `${name}.pem`, '--key', `${name}.key`]
    const without = await cli.run(['enroll', '-'], jwt)
    assert.equal(without.code, 64)
    assert.match(without.stderr, /needs --cert: this enrollment is one with a certificate that you/)
    const mixed = await cli.run(['enroll', '-', '--cert', 'leaf.pem', '--key', 'stranger.key'], jwt)
    assert.equal(mixed.code, 65)
    assert.match(mixed.stderr, /the certificate or its key cannot be used\n$/)
    const refused = await cli.run(['enroll', '-', ...files('stranger')], jwt)
    assert.equal(refused.code, 65)
    assert.match(refused.stderr, /it is of another CA, or not valid now \(CERT_FAILED_VALIDATION\)/)

    await cli.succeed(['enroll', '-', ...files('leaf'), '--out', 'me.json'], jwt)
    await cli.succeed(['login', '--identity', 'me.json'])
    const { identity } = JSON.parse(await cli.succeed(['whoami', '--json']))
    assert.equal(identity.id, identityId)

    const second = await inviteNew(admin, { ottca: caId })
    const taken = await cli.run(['enroll', '-', ...files('leaf')], second.jwt)
    assert.equal(taken.code, 73)
    assert.match(taken.stderr, /^latchkey: the certificate belongs to an identity already /)
  })

  await t.test('of a CA, for every holder of a certificate, creates an identity', async (t) => {
    const ca = await openssl.makeCa({ subject: '/CN=Open factory' })
    const caId = await registerCa(admin, openssl, ca, { isAutoCaEnrollmentEnabled: true })
    const jwt = (await admin.call('GET', `/cas/${caId}/jwt`)).text
    const cli = await freshCli(t)
    const { pem, keyPem } = await openssl.makeLeaf(ca)
    await writeFile(join(cli.home, 'device.pem'), pem)
    await writeFile(join(cli.home, 'device.key'), keyPem, { mode: 0o600 })
    const args = ['enroll', '-', '--cert', 'device.pem', '--key', 'device.key']
    const { code, stdout, stderr } = await cli.run(args, jwt)
    assert.equal(code, 0, stderr)
    const [, id = ''] = /^identity +(\S+)$/m.exec(stdout) ?? []
    const [, line = ''] = /^To log in: latchkey (.*)$/m.exec(stderr) ?? []
    await cli.succeed(line.split(' '))
    assert.equal(JSON.parse(await cli.succeed(['whoami', '--json'])).identity.id, id)
  })
})

test('an invalid identity file is exit code 65', async (t) => {
  const cli = await freshCli(t)
  await writeFile(join(cli.home, 'me.json'), '{"id": "x"}', { mode: 0o600 })
  const { code, stderr } = await cli.run(['login', '--identity', 'me.json'])
  assert.equal(code, 65)
  assert.match(stderr, /is not an identity file: JSON with the texts id, cert, key and ca\n$/)
})
