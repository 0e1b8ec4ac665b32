/** `latchkey enroll`, and the identity file that comes of it. Issue 6 §1; D-126. */
import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { freshCli } from '../support/cli.ts'
import { inviteNew } from '../support/enrollment.ts'
import { administrate } from '../support/management.ts'
import { startService } from '../support/service.ts'

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

  await t.test('that is none is named, and not repeated', async (t) => {
    const cli = await freshCli(t)
    const wrong = await cli.run(['enroll', '-', '--out', 'me.json'], 'hunter2\n')
    assert.equal(wrong.code, 65)
    assert.equal(wrong.stderr, 'latchkey: this is not the JWT of an enrollment\n')
    const missing = await cli.run(['enroll', 'token.jwt', '--out', 'me.json'])
    assert.equal(missing.code, 64)
    assert.match(missing.stderr, /there is no file token\.jwt/)
    const without = await cli.run(['enroll', 'token.jwt'])
    assert.equal(without.code, 64)
    assert.match(without.stderr, /^latchkey: "enroll" needs --out\n/)
    assert.deepEqual(await readdir(cli.home), [])
  })
})

test('an identity file that is none is exit code 65', async (t) => {
  const cli = await freshCli(t)
  await writeFile(join(cli.home, 'me.json'), '{"id": "x"}', { mode: 0o600 })
  const { code, stderr } = await cli.run(['login', '--identity', 'me.json'])
  assert.equal(code, 65)
  assert.match(stderr, /is not an identity file: JSON with the texts id, cert, key and ca\n$/)
})
