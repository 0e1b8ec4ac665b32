/**
 * A legacy session whose TOTP code is outstanding: what it may, what completes it, and that nothing else does. D-51,
 * D-52; R026, R083, R085, R090.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { minutes, seconds } from '../../../src/base/time/duration.ts'
import { AuthenticateReply } from '../../../src/contract/current-api-session.ts'
import { UptimeClock } from '../../support/clocks/uptime-clock.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  totpPolicy,
} from '../../support/login/authenticator-app.ts'
import {
  APIS,
  assertPartial,
  authenticate,
  CLIENT_API,
  callsOf,
  legacyToken,
  legacyTotpQuery,
} from '../../support/login/legacy.ts'
import { bearer } from '../../support/login/login.ts'
import { administrate, assertRefused, startHeld } from '../../support/management.ts'
import { forAll, type Service } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { sql } from '../../support/stores/sql.ts'

/** D-51: all that a partial session may, besides its logout. */
const MAY = APIS.flatMap((api) => [
  `GET ${api}/current-api-session`,
  `POST ${api}/authenticate/mfa`,
  `POST ${api}/current-identity/mfa`,
  `GET ${api}/current-identity/mfa`,
  `GET ${api}/current-identity/mfa/qr-code`,
  `POST ${api}/current-identity/mfa/verify`,
  `POST ${api}/authenticate/passkey`,
  `POST ${api}/authenticate/passkey/options`,
  `POST ${api}/current-identity/passkeys`,
  `POST ${api}/current-identity/passkeys/options`,
  `POST ${api}/current-identity/passkeys/verify`,
])
const MAY_CANCEL = APIS.map((api) => `DELETE ${api}/current-identity/mfa`)

/** Every route that asks for a session, by method and address. Routers show a certificate instead. */
function routesOf(service: Service) {
  const routes = service.instance.listeners.flatMap((listener) => listener.routes)
  return routes
    .filter(({ access }) => !['public', 'login', 'router'].includes(access))
    .map(({ method, url }) => ({ method, url: url.replace(':id', 'nothing') }))
}

for (const isTotpEnrolled of [true, false]) {
  const what = isTotpEnrolled ? 'whose code is outstanding' : 'that must enroll first'
  test(`D-51: a session ${what} may only what completes or ends it`, async (t) => {
    const { service, admin } = await startHeld(t)
    // An administrator, so that being one does not help either.
    const identity = { isAdmin: true, policy: await totpPolicy(admin) }
    const ada = isTotpEnrolled
      ? await enrolledPerson(service, admin, identity)
      : await admin.createIdentity({ password: PASSWORD, ...identity })
    const call = callsOf(service, await legacyToken(service, ada))
    const allowed: string[] = []
    const routes = routesOf(service)
    assert.ok(routes.length > MAY.length)
    for (const { method, url } of routes.filter((route) => !ends(route))) {
      const reply = await call(url, { method })
      if (reply.headers['totp-required'] === undefined) allowed.push(`${method} ${url}`)
      else assertUntouched(reply, isTotpEnrolled)
    }
    const logout = await call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
    assert.equal(logout.status, 200, logout.text)
    // R090: a verified app is not cancelled but removed, which needs a full session.
    const expected = isTotpEnrolled ? MAY : [...MAY, ...MAY_CANCEL]
    assert.deepEqual(allowed.toSorted(), expected.toSorted())
  })
}

const ends = ({ method, url }: { method: string; url: string }) =>
  method === 'DELETE' && url.endsWith('/current-api-session')

/** The OAuth endpoints word it in their own way, with the same challenge. */
function assertUntouched(
  reply: Awaited<ReturnType<Service['call']>>,
  isTotpEnrolled: boolean,
): void {
  if (typeof reply.json().error === 'object') assertPartial(reply, isTotpEnrolled)
  else assert.equal(reply.status, 401)
}

describe('a partial session', () => {
  const held = forAll(startHeld)

  test('D-51: the answer to the login says what is outstanding, and where to send it', async () => {
    const { service, admin } = held
    const policy = await totpPolicy(admin)
    const bob = await admin.createIdentity({ password: PASSWORD, policy })
    const ada = await enrolledPerson(service, admin)
    for (const api of APIS) {
      for (const [person, isTotpEnrolled] of [
        [ada, true],
        [bob, false],
      ] as const) {
        const reply = await authenticate(service, person, api)
        assert.equal(reply.status, 200, reply.text)
        assert.equal(reply.headers['totp-required'], 'true')
        const body = reply.json()
        assert.deepEqual(AuthenticateReply.parse(body), body)
        assert.deepEqual(body.data.authQueries, [legacyTotpQuery(isTotpEnrolled)])
        assert.equal(body.data.isMfaRequired, true)
        assert.equal(body.data.isMfaComplete, false)
        assert.deepEqual(body.data.amr, ['pwd'])
        const call = callsOf(service, body.data.token)
        const session = (await call(`${api}/current-api-session`)).json().data
        assert.deepEqual(session.authQueries, body.data.authQueries)
        assert.equal(session.isMfaRequired, true)
        assert.equal(session.isMfaComplete, false)
      }
    }
  })

  test('D-17: a recovery code completes a session, once', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const code = (ada.recoveryCodes[0] ?? '').toLowerCase()
    const mfa = `${CLIENT_API}/authenticate/mfa`
    const call = callsOf(service, await legacyToken(service, ada))
    assert.equal((await call(mfa, { json: { code } })).status, 200)
    assert.equal((await call(`${CLIENT_API}/current-identity`)).status, 200)
    const used = `identityId = "${ada.id}" and type = "mfa.recovery-code-used"`
    assert.equal((await admin.get(`/events?filter=${encodeURIComponent(used)}`)).length, 1)
    const other = callsOf(service, await legacyToken(service, ada))
    assertRefused(await other(mfa, { json: { code } }), 400, 'MFA_INVALID_TOKEN')
  })

  test('API 3.1: POST /authenticate/mfa where nothing is enrolled is 409', async () => {
    const { service, admin } = held
    const policy = await totpPolicy(admin)
    for (const identity of [{ policy }, {}]) {
      const bob = await admin.createIdentity({ password: PASSWORD, ...identity })
      const call = callsOf(service, await legacyToken(service, bob))
      for (const api of APIS) {
        const reply = await call(`${api}/authenticate/mfa`, { json: { code: '00000x' } })
        assertRefused(reply, 409, 'MFA_NOT_ENROLLED')
      }
    }
  })

  test('D-13: the code of another identity completes nothing', async () => {
    const { service, admin } = held
    const [ada, bob] = [await enrolledPerson(service, admin), await enrolledPerson(service, admin)]
    const call = callsOf(service, await legacyToken(service, ada))
    const json = { code: bob.app.code() }
    assertRefused(await call(`${CLIENT_API}/authenticate/mfa`, { json }), 400, 'MFA_INVALID_TOKEN')
    assertPartial(await call(`${CLIENT_API}/current-identity`), true)
  })

  // Attack: somebody has the password of a person with an app, and wants an app of his own in its place.
  test('R090: a partial session can neither replace nor remove nor see a verified app', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const call = callsOf(service, await legacyToken(service, ada))
    for (const api of APIS) {
      const mfa = `${api}/current-identity/mfa`
      const started = await call(mfa, { method: 'POST' })
      assertRefused(started, 409, 'MFA_EXISTS')
      const read = await call(mfa)
      assert.equal(read.status, 200, read.text)
      assert.equal(read.json().data.isVerified, true)
      assert.equal(read.text.includes('otpauth'), false)
      assertRefused(await call(`${mfa}/qr-code`), 404, 'MFA_ENROLLMENT_NOT_STARTED')
      const verify = await call(`${mfa}/verify`, { json: { code: ada.app.code() } })
      assertRefused(verify, 404, 'MFA_ENROLLMENT_NOT_STARTED')
      for (const options of [{}, { json: { code: ada.app.code() } }]) {
        assertPartial(await call(mfa, { method: 'DELETE', ...options }), true)
      }
      assertPartial(await call(`${mfa}/recovery-codes`), true)
      const renewed = await call(`${mfa}/recovery-codes`, { json: { code: ada.app.code() } })
      assertPartial(renewed, true)
    }
    const json = { code: ada.app.code() }
    const done = await call(`${CLIENT_API}/authenticate/mfa`, { json })
    assert.equal(done.status, 200, 'none of that burnt the code')
  })

  test('D-51: verifying an enrollment completes the session that began it, and no other', async () => {
    const { service, admin } = held
    const bob = await admin.createIdentity({ password: PASSWORD, policy: await totpPolicy(admin) })
    const call = callsOf(service, await legacyToken(service, bob))
    const other = callsOf(service, await legacyToken(service, bob))
    const mfa = `${CLIENT_API}/current-identity/mfa`
    const { provisioningUrl } = (await call(mfa, { method: 'POST' })).json().data
    const app = authenticatorApp(provisioningUrl, service.clock)
    assertPartial(await call(`${CLIENT_API}/current-identity`), false)
    const verified = await call(`${mfa}/verify`, { json: { code: app.code() } })
    assert.equal(verified.status, 200, verified.text)
    assert.equal((await call(`${CLIENT_API}/current-identity`)).status, 200)
    assertPartial(await other(`${CLIENT_API}/current-identity`), true)
  })

  test('R026: the token of a partial session is not a bearer token either', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const token = await legacyToken(service, ada)
    const reply = await service.call(`${CLIENT_API}/current-identity`, bearer(token))
    assertRefused(reply, 401, 'UNAUTHORIZED')
  })
})

for (const api of APIS) {
  test(`D-51: POST ${api}/authenticate/mfa completes a session`, async (t) => {
    const { service, admin } = await startHeld(t)
    const ada = await enrolledPerson(service, admin)
    const login = await authenticate(service, ada, api)
    const { token, id } = login.json().data
    const call = callsOf(service, token)
    const mfa = `${api}/authenticate/mfa`

    for (const code of [ada.app.wrongCode(), ada.app.code(3), 'ABCDEF']) {
      const wrong = await call(mfa, { json: { code } })
      assertRefused(wrong, 400, 'MFA_INVALID_TOKEN')
      assert.ok(wrong.headers['expires-at'])
      assertPartial(await call(`${api}/current-identity`), true)
    }
    for (const code of [undefined, 7, '', ['1'], '1'.repeat(65)]) {
      assertRefused(await call(mfa, { json: { code } }), 400, 'COULD_NOT_VALIDATE', 'code')
    }

    const code = ada.app.nextCode()
    const done = await call(mfa, { json: { code } })
    assert.equal(done.status, 200, done.text)
    assert.deepEqual(done.json(), { data: {}, meta: {} })
    for (const path of APIS) {
      const identity = await call(`${path}/current-identity`)
      assert.equal(identity.status, 200, identity.text)
      assert.equal(identity.json().data.isMfaEnabled, true)
    }
    const session = (await call(`${api}/current-api-session`)).json().data
    assert.equal(session.id, id, 'the same session')
    assert.deepEqual(session.authQueries, [])
    assert.equal(session.isMfaRequired, true)
    assert.equal(session.isMfaComplete, true)
    assert.deepEqual(session.amr, ['pwd', 'otp', 'mfa'])

    // R085: the step is burnt, for this session and every other.
    const other = callsOf(service, await legacyToken(service, ada))
    assertRefused(await other(mfa, { json: { code } }), 400, 'MFA_INVALID_TOKEN')
    assertPartial(await other(`${api}/current-identity`), true)
    const form: [string, string][] = [['code', ada.app.nextCode()]]
    assert.equal((await other(mfa, { form })).status, 200, 'a form does too')
  })
}

test('R085: of one code on many sessions at the same moment one is completed', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const tokens = []
  for (let i = 0; i < 5; i += 1) tokens.push(await legacyToken(service, ada))
  const json = { code: ada.app.nextCode() }
  const replies = await Promise.all(
    tokens.map((token) => callsOf(service, token)(`${CLIENT_API}/authenticate/mfa`, { json })),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  const [counted] = await sql(
    service,
    `select count(*) as n from events where type = 'login.succeeded' and identity_id = '${ada.id}'
     and session_id is not null and details like '%otp%'`,
  )
  assert.equal(Number(counted?.['n']), 1, 'R109')
})

test('D-465: a policy that demands a code is not met by an app that an old session sets up', async (t) => {
  // Attack: a token was stolen some time ago. The policy is made stricter, and the thief sets up an app of their own.
  const { service, admin } = await startHeld(t)
  const policy = await admin.createPolicy({ primary: { updb: { allowed: true } } })
  const bob = await admin.createIdentity({ password: PASSWORD, policy })
  const call = callsOf(service, await legacyToken(service, bob))
  const late = callsOf(service, await legacyToken(service, bob))
  await admin.act('PATCH', `/auth-policies/${policy}`, { secondary: { requireTotp: true } })
  const mfa = `${CLIENT_API}/current-identity/mfa`
  const { provisioningUrl } = (await call(mfa, { method: 'POST' })).json().data
  service.clock.advance(minutes(10))
  assertRefused(await late(mfa, { method: 'POST' }), 403, 'LOGIN_TOO_OLD')
  const passkeys = `${CLIENT_API}/current-identity/passkeys`
  assertRefused(await late(passkeys, { method: 'POST' }), 403, 'LOGIN_TOO_OLD')
  const code = authenticatorApp(provisioningUrl, service.clock).code()
  assertRefused(await call(`${mfa}/verify`, { json: { code } }), 403, 'LOGIN_TOO_OLD')
  assertPartial(await call(`${CLIENT_API}/current-identity`), false)
})

test('D-36: a session that one instance completes is complete on the other within a second', async (t) => {
  const shared = await installation(await migratedDatabase())
  const clock = new UptimeClock()
  clock.hold()
  const [a, b] = [await shared.start(t, { clock }), await shared.start(t, { clock })]
  const ada = await enrolledPerson(a, await administrate(a))
  const token = await legacyToken(a, ada)
  assertPartial(await callsOf(b, token)(`${CLIENT_API}/current-identity`), true)
  const json = { code: ada.app.nextCode() }
  const done = await callsOf(a, token)(`${CLIENT_API}/authenticate/mfa`, { json })
  assert.equal(done.status, 200, done.text)
  // What the other one knows of a session it keeps for a second at the most.
  clock.pass(seconds(1))
  assert.equal((await callsOf(b, token)(`${CLIENT_API}/current-identity`)).status, 200)
})
