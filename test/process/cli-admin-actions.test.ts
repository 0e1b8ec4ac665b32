/**
 * What administrators do on the command line besides writing entities: cutting off, dry runs, keys, events, and finding
 * out why. Issue 6 §1.
 */
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { decodeJwt, SignJWT } from 'jose'
import { systemClock } from '../../src/base/time/clock.ts'
import { epochSeconds } from '../../src/base/time/instant.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { newIdpKey, signJwt } from '../support/idp/external-idp.ts'
import { enrolledPerson } from '../support/login/authenticator-app.ts'
import { beginLogin, submitPassword } from '../support/login/login.ts'
import { administrate, logInAs } from '../support/management.ts'
import { passkeyPerson } from '../support/passkeys/passkey-login.ts'
import { waitFor } from '../support/process/child-service.ts'
import { type CommandLine, commandLineOf } from '../support/process/cli-login.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { sql } from '../support/stores/sql.ts'

const PASSWORD = 'a long password of hers'

async function done(cli: CommandLine, args: readonly string[], sentence: RegExp): Promise<string> {
  const { code, stdout, stderr } = await cli.run(...args)
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, args.join(' '))
  assert.match(stdout, sentence)
  return stdout
}

async function refused(
  cli: CommandLine,
  args: readonly string[],
  expected: number,
  sentence: RegExp,
): Promise<void> {
  const { code, stderr } = await cli.run(...args)
  assert.match(stderr, sentence, args.join(' '))
  assert.equal(code, expected, args.join(' '))
}

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
    await done(cli, ['passkeys', 'list', 'kim'], new RegExp(`^${key.id} +my key +localhost `, 'm'))
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
    assert.match(told, /^ {2}→ .*latchkey update authenticator dan --password-file FILE$/m)

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

  await t.test('a JWT is tried against a signer, step by step', async () => {
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const { pem, keyPem } = await openssl.makeCa()
    await admin.createSigner({ name: 'idp', issuer: 'https://idp.example', certPem: pem })
    await admin.createIdentity({ name: 'hugo', externalId: 'hugo@example.com' })
    const file = join(cli.folder, 'jwt')
    const now = epochSeconds(systemClock.now())
    const claims = { iss: 'https://idp.example', aud: 'latchkey', sub: 'hugo@example.com' }
    const good = await new SignJWT({ ...claims, iat: now, exp: now + 60 })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(createPrivateKey(keyPem))
    const accepted = await cli.runWith(good, 'signer', 'check', 'idp', '--jwt', '-')
    assert.equal(accepted.code, 0, accepted.stdout)
    assert.doesNotMatch(accepted.stdout, /^[^✓A]/m)
    assert.match(accepted.stdout, /\nA login with this JWT would be accepted\.\n$/)

    const key = await newIdpKey('k1')
    await writeFile(file, `${await signJwt(key, { ...claims, iat: now, exp: now + 60 })}\n`)
    const { code, stdout } = await cli.run('signer', 'check', 'idp', '--jwt', file)
    assert.equal(code, 1)
    assert.match(stdout, /^✓ signer /m)
    assert.match(stdout, /^✗ signature /m)
    assert.match(stdout, /^A login with this JWT would be refused\.$/m)
    await refused(cli, ['signer', 'check', 'idp'], 64, /"signer check" needs --jwt/)
    await refused(cli, ['signer', 'check', 'other', '--jwt', file], 66, /no signer "other"/)
  })

  await t.test('a CA is verified by a certificate with its token', async () => {
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const ca = await openssl.makeCa()
    await admin.createCa({ name: 'factory', certPem: ca.pem })
    const token = (await done(cli, ['ca', 'token', 'factory'], /^[\w-]{1,64}\n$/)).trim()
    const prove = async (name: string) => {
      const file = join(cli.folder, 'proof.pem')
      await writeFile(file, (await openssl.makeLeaf(ca, { subject: `/CN=${name}` })).pem)
      return ['ca', 'verify', 'factory', '--cert', file]
    }
    await refused(cli, await prove('another'), 65, /^latchkey: INVALID_COMMON_NAME: /)
    await done(cli, await prove(token), /^The CA "factory" \(\w+\) is verified\.\n$/)
    await refused(cli, ['ca', 'token', 'factory'], 73, /is verified already/)
    await refused(cli, ['ca', 'verify', 'factory'], 64, /"ca verify" needs --cert/)
  })

  await t.test('a change of a policy is previewed, and nothing changes', async () => {
    await admin.createIdentity({ name: 'iris', password: PASSWORD })
    const preview = await done(
      cli,
      ['policy', 'what-if', 'default', '--no-allow-password'],
      /^Nothing was changed\.$/m,
    )
    assert.match(preview, /^Saving would be refused: .*LAST_ADMINISTRATOR/m)
    assert.match(preview, /^ {2}iris: /m)
    assert.match(preview, /^ {2}admin \(administrator\): /m)
    await logInAs(service, { username: 'iris', password: PASSWORD })
    await refused(cli, ['policy', 'what-if', 'default'], 64, /there is nothing to preview/)
    await refused(cli, ['policy', 'what-if', 'none', '--require-totp'], 66, /no policy "none"/)
  })

  await t.test('the overview counts, and what expires is listed with its exit code', async () => {
    const overview = await done(cli, ['overview'], /^live sessions:? +[1-9]\d* OIDC/m)
    assert.match(overview, /^INSTANCE +VERSION +STATE/m)
    const all = await done(cli, ['expiry'], /^ENDS +IN DAYS +KIND +NAME +RENEWED BY$/m)
    assert.match(all, / signing-key /)
    const none = await cli.run('expiry', '--days', '0')
    assert.deepEqual([none.code, none.stdout], [0, 'Nothing expires.\n'])
    const soon = await cli.run('expiry', '--days', '10000')
    assert.equal(soon.code, 1, 'so that a job can tell')
    await refused(cli, ['expiry', '--days', 'soon'], 64, /--days/)
    await refused(cli, ['overview', 'now'], 64, /now/)
  })

  await t.test('the JWT of a CA is for those that enroll by themselves', async () => {
    await refused(cli, ['ca', 'jwt', 'factory'], 65, /^latchkey: COULD_NOT_VALIDATE: /)
    await done(cli, ['update', 'ca', 'factory', '--auto-enrollment'], /^The ca "factory"/)
    const jwt = await done(cli, ['ca', 'jwt', 'factory'], /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const [ca] = await admin.get('/cas?filter=name="factory"')
    const { em, sub, iss } = decodeJwt(jwt.trim())
    assert.deepEqual({ em, sub, iss }, { em: 'ca', sub: ca.id, iss: service.baseUrl })
    await refused(cli, ['ca', 'jwt', 'other'], 66, /no ca "other"/)
  })

  await t.test('ends all sessions of one identity, and of no other by mistake', async () => {
    const gina = await admin.createIdentity({ name: 'gina', password: PASSWORD })
    await logInAs(service, gina)
    await refused(
      cli,
      ['sessions', 'end-all', '--yes'],
      64,
      /needs either --identity or --everybody/,
    )
    await refused(cli, ['sessions', 'end-all', '--identity', 'gina'], 64, /--yes/)
    const args = ['sessions', 'end-all', '--identity', 'gina', '--yes']
    await done(cli, args, /"gina" \(\w+\) no longer has a session\.\n$/)
    assert.deepEqual(await admin.get(`/identities/${gina.id}/api-sessions`), [])
  })

  await t.test(
    'D-381: an end waits for its confirmations, and a session has a ledger',
    async () => {
      const hana = await admin.createIdentity({ name: 'hana', password: PASSWORD })
      const sessionOf = async () => {
        await logInAs(service, hana)
        const [session] = await admin.get(`/identities/${hana.id}/api-sessions`)
        return session.id as string
      }
      const first = await sessionOf()
      await refused(cli, ['delete', 'session', first, '--yes', '--wait', '61'], 64, /from 0 to 60/)
      const everyone = /Confirmed by 0 of 0 routers and 1 of 1 instance\.\n$/
      await done(cli, ['delete', 'session', first, '--yes', '--wait', '10'], everyone)
      await sessionOf()
      const endAll = ['sessions', 'end-all', '--identity', 'hana', '--yes', '--wait', '10']
      await done(cli, endAll, everyone)
      await done(cli, [...endAll, '--json'], /"confirmations": null/)

      // Another instance that has not applied anything.
      const now = systemClock.now()
      const report = JSON.stringify({
        revision: 'x',
        failing: [],
        warnings: [],
        serverCertificates: [],
      })
      await sql(
        service,
        `insert into instances values ('x', 'x', 'other-host', '1.0.0', ${now}, ${now}, '${report}', '[]')`,
      )
      const second = await sessionOf()
      const late = await cli.run('disable', 'identity', 'hana', '--wait', '0')
      assert.equal(late.code, 74, late.stderr)
      assert.match(late.stdout, /^NOT CONFIRMED .*\n(?:.*\n)?instance other-host +waiting /m)
      await sql(service, `delete from instances where id = 'x'`)

      const described =
        /token\.issued(?:.*\n)+.*session\.ended +identity-disabled(?:.*\n)+Confirmed by /
      await done(cli, ['describe', 'session', second], described)
      await refused(cli, ['describe', 'session', 'nothing'], 66, /NOT_FOUND/)
      await admin.createIdentity({ name: 'edge-1', type: 'Router' })
      await done(cli, ['list', 'routers'], /^edge-1 +\w+ +- +no +- +- +0$/m)
    },
  )

  await t.test('D-168: keys rotate over the API where no home is', async () => {
    const before = await admin.get('/signing-keys')
    await done(cli, ['keys', 'list'], new RegExp(`^${before[0].kid} +access +ES256 +signing `, 'm'))
    const said = await done(
      cli,
      ['keys', 'rotate'],
      /^The key \S+ \(ES256\) for access tokens is published/,
    )
    const [kid, idKid] = [...said.matchAll(/The key (\S+)/g)].map(([, found]) => found)
    const after = await admin.get('/signing-keys')
    assert.deepEqual(
      after.map((key: { kid: string }) => key.kid),
      [before[0].kid, before[1].kid, kid, idKid],
    )
    await refused(
      cli,
      ['keys', 'rotate', '--context', 'default', '--home', service.home],
      64,
      /--context is for the API/,
    )
    // A home that is named is the one that is meant, also beside a login.
    const local = await cli.run('keys', 'rotate', '--home', service.home)
    assert.equal(local.code, 0, local.stderr)
    assert.equal((await admin.get('/signing-keys')).length, 6)
    await refused(cli, ['keys', 'rotate', '--wait', '5'], 64, /--wait needs --revoke-now/)
    // The token of the command line is one of those that are withdrawn; its session goes on.
    const leaked = ['keys', 'rotate', '--context', 'default', '--revoke-now', '--wait', '10']
    await done(
      cli,
      leaked,
      /^(The key \S+ \(\w+\) for (access|ID) tokens signs from now on\.\n){2}All older keys are withdrawn: .*\nConfirmed by 0 of 0 routers and 1 of 1 instance\.\n$/,
    )
    const inHome = ['keys', 'rotate', '--home', service.home, '--revoke-now', '--wait', '10']
    await done(cli, inHome, /\nConfirmed by 0 of 0 routers and 1 of 1 instance\.\n$/)
    assert.equal(JSON.parse((await cli.run('keys', 'list', '--json')).stdout).length, 2)
  })

  await t.test('with --everybody, the administrator is logged out as well', async () => {
    const args = ['sessions', 'end-all', '--everybody', '--yes', '--wait', '10']
    const confirmed =
      /^All sessions have ended\. .*\nConfirmed by 1 of 1 routers and instances\.\n$/
    await done(cli, args, confirmed)
    await waitFor(
      async () => (await cli.run('list', 'identities')).code === 77,
      () => 'the end of our own session',
    )
  })
})
