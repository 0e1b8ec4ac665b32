/**
 * What administrators do with identities and events on the command line besides writing entities: cutting off, unlocking,
 * describing, following, and finding out why.
 */
import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { enrolledPerson } from '../support/login/authenticator-app.ts'
import { beginLogin, submitPassword } from '../support/login/login.ts'
import { administrate, logInAs } from '../support/management.ts'
import { passkeyPerson } from '../support/passkeys/passkey-login.ts'
import { waitFor } from '../support/process/child-service.ts'
import { commandLineOf } from '../support/process/cli-login.ts'
import { done, refused } from '../support/process/cli-outcomes.ts'
import { startService, temporaryFolder } from '../support/service.ts'

const PASSWORD = 'a long password of hers'

test('what administrators do, on the command line', async (t) => {
  const service = await startService(t)
  const cli = await commandLineOf(t, service)
  const admin = await administrate(service)

  /** The request id that somebody hears who does not get in. */
  async function failToLogIn(username: string, password: string): Promise<string> {
    const { authRequestId } = await beginLogin(service)
    const reply = await submitPassword(service, authRequestId, { username, password })
    assert.equal(reply.status, 401, reply.text)
    return String(reply.headers['x-request-id'])
  }

  await t.test(
    'a router is made with its hosts, and its token is printed or in a file of its own',
    async (st) => {
      const hosts = ['--host', 'gw1.example.com', '--host', '10.1.2.3:8443']
      const printed = await cli.run('create', 'router', 'gw1', ...hosts)
      assert.equal(printed.code, 0, printed.stderr)
      const [jwt = ''] = /^eyJ\S+$/m.exec(printed.stdout) ?? []
      const { sub, em } = decodeJwt(jwt)
      assert.equal(em, 'ott')
      const made = await admin.get(`/identities/${sub}`)
      assert.deepEqual(made.hosts, ['gw1.example.com', '10.1.2.3:8443'])
      assert.equal(made.type, 'Router')
      assert.match(printed.stderr, /^There: latchkey gateway --enroll FILE /)
      await done(cli, ['list', 'routers'], /gw1 .* gw1\.example\.com, 10\.1\.2\.3:8443/)

      const file = join(await temporaryFolder(st), 'gw2.jwt')
      const kept = await cli.run('create', 'router', 'gw2', '--host', 'localhost', '--out', file)
      assert.equal(kept.code, 0, kept.stderr)
      assert.doesNotMatch(kept.stdout, /eyJ/)
      assert.match(await readFile(file, 'utf8'), /^eyJ\S+\n$/)
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      await refused(cli, ['create', 'router', 'gw3'], 64, /"create router" needs --host/)
      await refused(cli, ['create', 'router', 'gw3', '--host', 'a/b'], 65, /--host/)
      const again = ['create', 'router', 'gw3', '--host', 'a', '--out', file]
      await refused(cli, again, 1, /exists; it is not overwritten/)
      const other = join(await temporaryFolder(st), 'gw4.jwt')
      const taken = ['create', 'router', 'gw2', '--host', 'a', '--out', other]
      await refused(cli, taken, 73, /ENTITY_NAME_IN_USE/)
      await assert.rejects(stat(other), { code: 'ENOENT' })
    },
  )

  await t.test('an identity is disabled for some minutes, and enabled', async () => {
    const { id } = await admin.createIdentity({ name: 'anna', password: PASSWORD })
    await done(
      cli,
      ['disable', 'identity', 'anna', '--minutes', '5'],
      /^The identity "anna" \(\w+\) is disabled for 5 minutes; its sessions have ended\.\n$/,
    )
    const { disabled, disabledAt, disabledUntil } = await admin.get(`/identities/${id}`)
    assert.equal(disabled, true)
    assert.equal(Date.parse(disabledUntil) - Date.parse(disabledAt), 5 * 60_000)
    await failToLogIn('anna', PASSWORD)
    await done(cli, ['enable', 'identity', 'anna'], /"anna" \(\w+\) is enabled\.\n$/)
    assert.equal((await admin.get(`/identities/${id}`)).disabled, false)
    await done(cli, ['disable', 'identity', id], /is disabled until it is enabled;/)
    assert.equal((await admin.get(`/identities/${id}`)).disabledUntil, null)
    await refused(cli, ['disable', 'identity', 'anna', '--minutes', '0'], 64, /--minutes must be 1/)
    await refused(cli, ['disable', 'identity', 'admin'], 73, /^latchkey: LAST_ADMINISTRATOR: /)
    await refused(cli, ['enable', 'identity', 'nobody'], 66, /there is no identity "nobody"/)
  })

  await t.test('a locked password is unlocked by username or by identity', async () => {
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true, maxAttempts: 1, lockoutDurationMinutes: 0 } },
    })
    const bea = { name: 'Bea Smith', username: 'bea', password: PASSWORD, policy }
    const { id } = await admin.createIdentity(bea)
    for (const name of ['bea', 'Bea Smith', id]) {
      await failToLogIn('bea', 'wrong')
      // R078: the right one too, while it is locked.
      await failToLogIn('bea', PASSWORD)
      await done(cli, ['unlock', name], /^The password of "bea" \(\w+\) is unlocked\.\n$/)
      await logInAs(service, bea)
    }
    await refused(cli, ['unlock', 'nobody'], 66, /there is no authenticator "nobody"/)
    await admin.createIdentity({ name: 'Without' })
    const none = /the identity "Without" has no matching authenticator/
    await refused(cli, ['unlock', 'Without'], 66, none)
    await refused(cli, ['re-enroll', 'Without'], 66, /the identity "Without" has no authenticator/)
  })

  await t.test('TOTP is removed where there is some', async () => {
    await admin.createIdentity({ name: 'cleo', password: PASSWORD })
    await refused(cli, ['mfa', 'remove', 'cleo'], 64, /--yes/)
    await refused(cli, ['mfa', 'remove', 'cleo', '--yes'], 73, /^latchkey: MFA_NOT_ENROLLED: /)
    const person = { name: 'cora', password: PASSWORD }
    const { id } = await enrolledPerson(service, admin, person)
    assert.equal((await admin.get(`/identities/${id}`)).isMfaEnabled, true)
    await done(
      cli,
      ['mfa', 'remove', 'cora', '--yes'],
      /"cora" \(\w+\) no longer has a second factor\.\n$/,
    )
    assert.equal((await admin.get(`/identities/${id}`)).isMfaEnabled, false)
  })

  await t.test('passkeys are listed, and one is removed', async () => {
    await refused(cli, ['passkeys', 'list', 'nobody'], 66, /nobody/)
    const { id } = await passkeyPerson(service, admin, { name: 'kim' })
    const [key] = await admin.get(`/identities/${id}/passkeys`)
    const row = `^${key.id} +my key +localhost +${key.createdAt.replace(/\.\d+Z/, 'Z')}(?: |$)`
    await done(cli, ['passkeys', 'list', 'kim'], new RegExp(row, 'm'))
    await refused(cli, ['passkeys', 'remove', 'kim', key.id], 64, /--yes/)
    const remove = ['passkeys', 'remove', 'kim', key.id, '--yes']
    await done(cli, remove, /"kim" \(\w+\) no longer has the passkey /)
    await refused(cli, remove, 66, /^latchkey: NOT_FOUND: /)
    await done(cli, ['passkeys', 'list', 'kim'], /"kim" \(\w+\) has no passkeys\.\n$/)
  })

  await t.test('explain says what was wrong with a request, and what to do', async () => {
    await admin.createIdentity({ name: "dan's own", username: 'dan', password: PASSWORD })
    const wrong = await failToLogIn('dan', 'wrong')
    const told = await done(cli, ['explain', wrong], /^The password is wrong\.\n/)
    assert.match(told, /^ {2}identity: "dan's own" \(\w+\)$/m)
    assert.match(told, /^ {2}from: 127\.0\.0\.1$/m)
    assert.match(told, /^ {2}→ .*: latchkey reset password 'dan'\\''s own'$/m)

    await done(cli, ['disable', 'identity', "dan's own"], /is disabled/)
    const disabled = await failToLogIn('dan', PASSWORD)
    // What is printed for a shell is quoted for one.
    const enable = String.raw`latchkey enable identity 'dan'\''s own'`
    assert.ok((await done(cli, ['explain', disabled], /is disabled\.\n/)).includes(enable))

    const { code, stdout } = await cli.run('explain', wrong, '--json')
    assert.equal(code, 0)
    const [one] = JSON.parse(stdout)
    assert.deepEqual([one.event.type, one.event.reason], ['login.failed', 'wrong-password'])
    await refused(
      cli,
      ['explain', 'nonsense" or true'],
      66,
      /no event has the request id "nonsense/,
    )
    await refused(cli, ['explain'], 64, /"explain" needs a REQUEST-ID or --last/)

    // D-406: what a gateway refused is in its own log.
    const { id } = await admin.createIdentity({ name: 'greta', roleAttributes: ['dev'] })
    const rule = { reason: 'rule-unmet', rule: 'roles', required: ['ops'], upstream: 'wiki' }
    const log = join(await temporaryFolder(t), 'gateway.log')
    await writeFile(log, `${JSON.stringify({ requestId: 'r1', identityId: id, ...rule })}\n`)
    const atGateway = await done(cli, ['explain', 'r1', '--log', log], /requires one of "ops"/)
    assert.match(atGateway, /^ {2}→ latchkey update identity greta --role dev --role ops$/m)
    await refused(cli, ['explain', 'r2', '--log', log], 66, /no line of .* has the request id/)
    await refused(cli, ['explain', '--last', '--log', log], 64, /--log needs a REQUEST-ID/)
  })

  await t.test(
    'explain --last finds the newest refusal, of everybody or of one identity',
    async () => {
      await admin.createIdentity({ name: 'della', password: PASSWORD })
      await admin.createIdentity({ name: 'doris', password: PASSWORD })
      await failToLogIn('della', 'wrong')
      await failToLogIn('doris', 'wrong')
      assert.match(await done(cli, ['explain', '--last'], /^The password is wrong/), /"doris"/)
      const ofDella = ['explain', '--last', '--identity', 'della']
      assert.match(await done(cli, ofDella, /^The password is wrong/), /"della"/)
      const { id } = await admin.createIdentity({ name: 'dora', password: PASSWORD })
      await refused(cli, ['explain', '--last', '--identity', id], 66, /no refused request is known/)
      await refused(
        cli,
        ['explain', 'x', '--last'],
        64,
        /needs a REQUEST-ID or --last, one of them/,
      )
      await refused(cli, ['explain', 'x', '--identity', 'dora'], 64, /--identity is for --last/)
    },
  )

  await t.test(
    'several names are one command, and a name that is unknown changes nothing',
    async () => {
      const names = ['gus', 'gwen', 'gina']
      for (const name of names) await admin.createIdentity({ name, password: PASSWORD })
      await refused(
        cli,
        ['disable', 'identity', 'gus', 'nobody'],
        66,
        /there is no identity "nobody"/,
      )
      await failToLogIn('gus', 'wrong')
      await logInAs(service, { username: 'gus', password: PASSWORD })
      const lines = await done(cli, ['disable', 'identity', ...names], /^The identity "gus" /)
      assert.equal(lines.trimEnd().split('\n').length, 3)
      await done(
        cli,
        ['enable', 'identity', 'gus', 'gus'],
        /^The identity "gus" \(\w+\) is enabled\.\n$/,
      )
      const { code, stdout } = await cli.run('delete', 'identity', ...names, '--yes', '--json')
      assert.equal(code, 0)
      assert.equal(JSON.parse(stdout).length, 3)
      await refused(cli, ['get', 'identity', 'gwen'], 66, /there is no identity "gwen"/)
    },
  )

  await t.test('describe shows an identity with its credentials, sessions and events', async () => {
    const person = { name: 'hanna', username: 'hanna', password: PASSWORD }
    await admin.createIdentity(person)
    await logInAs(service, person)
    const request = await failToLogIn('hanna', 'wrong')
    const told = await done(cli, ['describe', 'identity', 'hanna'], /^id +\w+$/m)
    for (const part of ['Authenticators', 'Enrollments: none', 'Sessions', 'Events']) {
      assert.match(told, new RegExp(`^${part}$`, 'm'))
    }
    for (const word of ['updb', 'login.succeeded', 'wrong-password', request]) {
      assert.ok(told.includes(word), word)
    }
    const { stdout } = await cli.run('describe', 'identity', 'hanna', '--json')
    const { identity, authenticators, enrollments, sessions, events } = JSON.parse(stdout)
    assert.equal(identity.name, 'hanna')
    assert.deepEqual([authenticators.length, enrollments.length, sessions.length], [1, 0, 1])
    assert.ok(events.length >= 3)
    await refused(cli, ['describe', 'identity', 'nobody'], 66, /there is no identity "nobody"/)
  })

  await t.test('events are those of an identity, a type and a request', async () => {
    const { id } = await admin.createIdentity({ name: 'eve', password: PASSWORD })
    const request = await failToLogIn('eve', 'wrong')
    const shown = await done(
      cli,
      ['events', '--identity', 'eve', '--type', 'login.failed'],
      /^AT +TYPE +REASON /,
    )
    const [, line = '', ...more] = shown.trimEnd().split('\n')
    assert.deepEqual(more, [])
    for (const word of ['login.failed', 'wrong-password', ' eve ', request])
      assert.ok(line.includes(word), line)
    const { stdout } = await cli.run('events', '--request', request, '--json')
    assert.deepEqual(
      JSON.parse(stdout).map((event: { type: string }) => event.type),
      ['login.failed'],
    )
    // D-351: what changed, from what to what.
    await admin.act('PATCH', `/identities/${id}`, { name: 'eve 2' })
    const renamed = await done(cli, ['events', '--identity', 'eve 2', '--limit', '1'], / CHANGES\n/)
    assert.match(renamed, / admin .* name: "eve" → "eve 2"\n$/)
    // D-350: a deleted identity still has events, by its id and by its name.
    await admin.act('DELETE', `/identities/${id}`)
    await done(cli, ['events', '--identity', id, '--limit', '1'], /identity\.deleted/)
    const deleted = await done(cli, ['events', '--identity', 'eve 2', '--limit', '1'], /eve 2/)
    assert.match(deleted, /identity\.deleted .* admin /)
    await done(cli, ['events', '--actor', 'admin', '--limit', '1'], /identity\.deleted/)
    await refused(cli, ['events', '--identity', 'noone'], 66, /there is no identity "noone"/)
    await refused(cli, ['events', '--actor', 'noone'], 66, /there is no identity "noone"/)
    await refused(cli, ['events', '--filter', 'x ='], 65, /^latchkey: INVALID_FILTER: /)
    const mistyped = await cli.run('events', '--type', 'login.faild')
    assert.equal(mistyped.code, 0, 'a newer server may know it')
    assert.equal(
      mistyped.stderr,
      'latchkey: this version knows no event type "login.faild". Did you mean "login.failed"?\n',
    )
  })

  await t.test(
    'events that are followed come as they happen, each once, until Ctrl-C',
    async () => {
      await admin.createIdentity({ name: 'finn', password: PASSWORD })
      const first = await failToLogIn('finn', 'wrong')
      const args = ['events', '--follow', '--identity', 'finn', '--type', 'login.failed', '--json']
      const terminal = cli.open(...args)
      await terminal.sees(first)
      const later = [await failToLogIn('finn', 'wrong'), await failToLogIn('finn', 'wrong')]
      for (const request of later) await terminal.sees(request)
      // Two more rounds, which see all three again.
      const rounds = () => service.log.filter(({ route }) => /\/events$/.test(route)).length
      const enough = rounds() + 2
      await waitFor(
        () => rounds() >= enough,
        () => 'two more rounds',
      )
      terminal.presses('\u0003')
      assert.equal(await terminal.ended(), 0, terminal.output())
      const requests = terminal.output().matchAll(/"requestId":"(\w+)"/g)
      assert.deepEqual(
        [...requests].map(([, request]) => request),
        [first, ...later],
      )
    },
  )
})
