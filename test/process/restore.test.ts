/**
 * `latchkey restore`: a new epoch begins, and nothing that was spent or ended comes back to life. D-159, R042. A kill in
 * the middle: R114.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after as afterAll, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { enrollByPassword, inviteNew } from '../support/certificates/enrollment.ts'
import { TestClock } from '../support/clocks/clock.ts'
import { legacySession, oidcSession } from '../support/edge/live-session.ts'
import { openTunnel, pass, startRealEdge, travellerOf } from '../support/edge/real-edge.ts'
import { eventually } from '../support/eventually.ts'
import { authenticatorApp, enrolledPerson } from '../support/login/authenticator-app.ts'
import { authenticate, CLIENT_API, legacyToken, ztSession } from '../support/login/legacy.ts'
import { bearer, beginLogin, exchange, obtainCode, submitPassword } from '../support/login/login.ts'
import { post, refresh, refreshed } from '../support/login/refresh.ts'
import { administrate } from '../support/management.ts'
import {
  backUp,
  emptyHome,
  homeAt,
  PLACES,
  restore,
  serveAt,
  startAt,
} from '../support/process/backups.ts'
import type { ChildService } from '../support/process/child-service.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN, startService } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'

afterAll(async () => (await startPostgres()).stop())

const ME = `${CLIENT_API}/current-identity`
const KILLER = fileURLToPath(new URL('../support/kills/kill-restore.ts', import.meta.url))

/** A code of the app, or a recovery code, at a legacy login. */
async function proveTotp(
  service: Pick<ChildService, 'call'>,
  person: { readonly username: string; readonly password: string },
  code: string,
) {
  const begun = await authenticate(service, person)
  assert.equal(begun.status, 200, begun.text)
  const token = begun.json().data.token
  const json = { code }
  return service.call(`${CLIENT_API}/authenticate/mfa`, { json, ...ztSession(token) })
}

for (const place of PLACES) {
  suite(place.name, () => {
    // The attack of R042: something was used, or taken away, after the backup. Whoever has kept a copy of it shows it
    // again once the backup is in place, where nothing knows of its use.
    test('R042: nothing that was spent or ended after a backup is valid after its restore, and no session survives', async (t) => {
      const service = await startAt(t, place)
      const { home } = service
      const admin = await administrate(service)
      const person = await enrolledPerson({ ...service, clock: new TestClock() }, admin)
      const disabled = await admin.createIdentity({ password: 'a password of somebody' })
      await admin.act('POST', `/identities/${disabled.id}/disable`, { durationMinutes: 0 })
      const invitation = await inviteNew(admin, { updb: 'invited' })
      const unused = await inviteNew(admin, { ott: true })
      const ended = await legacySession(service)
      const alive = await legacySession(service)
      const first = await oidcSession(service)
      const edge = await startRealEdge(t, service)
      const traveller = await travellerOf(first)
      const tunnel = await openTunnel(t, edge, traveller)
      assert.equal(tunnel.status, 101)
      assert.equal((await pass(t, edge, traveller))?.status, 200)

      const path = await backUp(t, home)

      // What is spent and ended, and what is new, after the backup.
      const begun = await beginLogin(service)
      const spent = await obtainCode(service)
      const form = (one: typeof spent) => ({
        code: one.code,
        code_verifier: one.verifier,
        redirect_uri: one.redirectUri,
      })
      assert.equal((await exchange(service, form(spent))).status, 200)
      const open = await obtainCode(service)
      const successor = (await refreshed(service, first.refreshToken ?? '')).refresh_token
      assert.equal(
        (await ended.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })).status,
        200,
      )
      const enrolled = { username: 'invited', password: 'a password of my own' }
      assert.equal((await enrollByPassword(service, invitation.token, enrolled)).status, 200)
      const [usedCode = '', unusedCode = ''] = person.recoveryCodes
      assert.equal((await proveTotp(service, person, usedCode)).status, 200)
      const app = authenticatorApp(person.app.provisioningUrl, new TestClock())
      const step = app.code()
      assert.equal((await proveTotp(service, person, step)).status, 200)
      const shown = [step, app.code(), app.code(1)]
      const newKey = await runLatchkey(t, ['keys', 'rotate', '--revoke-now', '--home', home])
      assert.equal(newKey.code, 0, newKey.stderr)
      // Signed with a key that the backup has never heard of.
      const later = await oidcSession(service)

      const restored = await restore(t, path, home, ['--force'])
      assert.equal(restored.code, 0, restored.stderr)
      assert.match(
        restored.stdout,
        /^The backup of \S+Z was restored \(\d+ rows\)\.\nEarlier sessions, tokens, codes and open enrollments are void: all users log in again\.\nRecovery codes are void too: 1 identities must create new ones\.\nRunning instances stop now with exit code 75; start them again\.\n$/,
      )
      const stopped = await service.finished
      assert.equal(stopped.code, 75, stopped.stderr)
      assert.match(
        stopped.stderr,
        /"the database was restored from a backup; stopping, to be started again"/,
      )

      const again = await startService(t, { home })
      for (const token of [first.token, later.token]) {
        const reply = await again.call(ME, bearer(token))
        assert.equal(reply.status, 401)
        assert.match(
          String(reply.headers['www-authenticate']),
          /realm="service-oidc", error="invalid"/,
        )
        assert.equal((await again.call('/oidc/userinfo', bearer(token))).status, 401)
      }
      for (const { token } of [ended, alive]) {
        const reply = await again.call(ME, ztSession(token))
        assert.equal(reply.status, 401)
        assert.match(
          String(reply.headers['www-authenticate']),
          /realm="zt-session", error="invalid"/,
        )
      }
      for (const token of [first.refreshToken ?? '', successor, later.refreshToken ?? '']) {
        const reply = await refresh(again, token)
        assert.deepEqual([reply.status, reply.json().error], [400, 'invalid_grant'])
      }
      for (const one of [spent, open]) {
        const reply = await exchange(again, form(one))
        assert.deepEqual([reply.status, reply.json().error], [400, 'invalid_grant'])
      }
      const goOn = await submitPassword(again, begun.authRequestId)
      assert.deepEqual([goOn.status, goOn.json().error.code], [400, 'INVALID_AUTH_REQUEST'])
      for (const { token } of [invitation, unused]) {
        const other = { username: 'somebody-else', password: 'a password of my own' }
        const reply = await enrollByPassword(again, token, other)
        assert.deepEqual([reply.status, reply.json().error.code], [400, 'INVALID_ENROLLMENT_TOKEN'])
      }
      // The password that the invitation was exchanged for is gone with everything since the backup.
      assert.equal((await authenticate(again, enrolled)).status, 401)
      for (const code of [...shown, usedCode, unusedCode]) {
        const reply = await proveTotp(again, person, code)
        assert.deepEqual([reply.status, reply.json().error.code], [400, 'MFA_INVALID_TOKEN'], code)
      }
      assert.equal((await authenticate(again, disabled)).json().error.code, 'INVALID_AUTH')
      const hint = await post(again, '/oidc/end_session', { id_token_hint: first.idToken })
      assert.equal(hint.status, 400, hint.text)

      // At the router: what was open is closed, and neither token nor certificate opens anything again.
      await tunnel.closed
      assert.equal((await pass(t, edge, traveller))?.status, 401)
      const fresh = await oidcSession(again)
      const other = await travellerOf(fresh)
      await eventually(
        async () => ((await pass(t, edge, other))?.status === 200 ? true : undefined),
        'the router has the keys of the new epoch',
      )
      const mixed = { shown: traveller.shown, headers: fresh.headers }
      assert.equal((await pass(t, edge, mixed))?.status, 403)

      const newAdmin = await administrate(again)
      const introspected = await post(
        again,
        '/oidc/introspect',
        { token: later.token },
        bearer(newAdmin.token),
      )
      assert.deepEqual(introspected.json(), { active: false })
      const events = await newAdmin.get('/events?filter=type="installation.restored"')
      assert.equal(events.length, 1)
      assert.equal(events[0].details.withoutRecoveryCodes, 1)
      const taken = Date.parse(events[0].details.takenAt)
      assert.ok(taken < Date.parse(events[0].at), 'the backup is older than its restore')
      assert.deepEqual(await newAdmin.get('/enrollments'), [])
    })

    test('a backup goes into an empty database of the same kind and of the other one, and users log in as before', async (t) => {
      const service = await serveAt(t, place)
      const admin = await administrate(service)
      const name = 'Zoë "quoted" \\ 🦊'
      const somebody = await admin.createIdentity({
        name,
        username: 'zoe',
        password: 'a password of somebody',
        tags: { note: 'one\u2028two\tthree\nfour', none: null, few: 1.5, yes: true },
      })
      const path = await backUp(t, service.home)
      const before = await admin.get('/identities?limit=500&sort=name')
      for (const target of PLACES) {
        const home = await emptyHome(t, service.home, target)
        const restored = await restore(t, path, home)
        assert.equal(restored.code, 0, restored.stderr)
        const occupied = await restore(t, path, home)
        assert.equal(occupied.code, 1)
        assert.match(
          occupied.stderr,
          /^latchkey: there is an installation in the database \S+ already; pass --force to replace it\n$/,
        )
        await service.stop()
        const other = await startService(t, { home })
        await legacyToken(other, somebody)
        const after = await (await administrate(other)).get('/identities?limit=500&sort=name')
        const facts = (list: typeof before) =>
          list.map(({ id, name, tags, createdAt, isAdmin }: Record<string, unknown>) => {
            return { id, name, tags, createdAt, isAdmin }
          })
        assert.deepEqual(facts(after), facts(before))
        await other.stop()
      }
    })

    test('R114: a restore that is killed leaves the database empty or whole, and can be repeated', async (t) => {
      const source = await homeAt(t, place)
      const path = await backUp(t, source)
      const home = await emptyHome(t, source, place)
      for (const step of ['rows', 'commit'] as const) {
        const killed = await runLatchkey(t, ['restore', path, '--home', home], {
          nodeArguments: ['--import', KILLER],
          environment: { KILL_AT: step },
        })
        assert.equal(killed.signal, 'SIGKILL', killed.stderr)
        // It would refuse a database with anything in it.
        const backup = await runLatchkey(t, ['backup', '--home', home, '--out', join(home, 'b')])
        assert.equal(backup.code, 1)
        assert.match(backup.stderr, /nothing is installed in/)
      }
      assert.equal((await restore(t, path, home)).code, 0)
      // Replacing is all or nothing as well.
      const killed = await runLatchkey(t, ['restore', path, '--home', home, '--force'], {
        nodeArguments: ['--import', KILLER],
        environment: { KILL_AT: 'commit' },
      })
      assert.equal(killed.signal, 'SIGKILL', killed.stderr)
      const again = await startService(t, { home })
      await legacyToken(again, ADMIN)
      const events = await (await administrate(again)).get(
        '/events?filter=type="installation.restored"',
      )
      assert.equal(events.length, 1)
    })
  })
}
