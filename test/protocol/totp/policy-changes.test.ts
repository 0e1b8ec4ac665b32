/**
 * A policy that begins to demand a code while a login is under way, or while a session lives: D-52; R026. What has not
 * been proven does not count, whatever was handed out before.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  partialLogin,
  scanned,
  submitCode,
  totpPolicy,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { CODE_DEMANDED, NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import {
  APIS,
  assertPartial,
  CLIENT_API,
  callsOf,
  legacyToken,
} from '../../support/login/legacy.ts'
import {
  answerOf,
  bearer,
  beginLogin,
  exchangeOf,
  submitPassword,
} from '../../support/login/login.ts'
import {
  administrate,
  assertRefused,
  type CreatedIdentity,
  logInAs,
} from '../../support/management.ts'
import { demand } from '../../support/policies.ts'
import { startService } from '../../support/service.ts'

test('a policy that begins to demand a code', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const demandTotp = (policy: string) => demand(admin, policy, { requireTotp: true })

  await t.test(
    'between the password and the exchange: no tokens for the code that was issued',
    async () => {
      const policy = await admin.createPolicy()
      const ada = await admin.createIdentity({ password: PASSWORD, policy })
      const login = await beginLogin(service)
      const done = await submitPassword(service, login.authRequestId, credentials(ada))
      assert.ok(answerOf(done).get('code'))
      await demandTotp(policy)
      const exchanged = await exchangeOf(service, login, done)
      assert.equal(exchanged.status, 400, exchanged.text)
      assert.equal(exchanged.json().error, 'invalid_grant')
      const next = await partialLogin(service, ada)
      assert.equal(next.reply.headers['totp-required'], 'true')
    },
  )

  await t.test('between two steps of a login: the password alone no longer ends it', async () => {
    const policy = await admin.createPolicy()
    const ada = await admin.createIdentity({ password: PASSWORD, policy })
    const login = await beginLogin(service)
    await demandTotp(policy)
    const reply = await submitPassword(service, login.authRequestId, credentials(ada))
    assert.equal(reply.status, 200, reply.text)
    const { app } = await scanned(service, login.authRequestId)
    const verified = await verifyEnrollment(service, login.authRequestId, app.code())
    assert.equal((await exchangeOf(service, login, verified)).status, 200)
  })

  await t.test(
    'D-52: OIDC calls of a live session become invalid, but for the logout',
    async () => {
      const policy = await admin.createPolicy()
      const ada = await admin.createIdentity({ password: PASSWORD, policy })
      const { access_token } = await logInAs(service, ada)
      await demandTotp(policy)
      for (const api of APIS) {
        for (const [method, path] of [
          ['GET', 'current-identity'],
          ['GET', 'current-api-session'],
          ['POST', 'current-identity/mfa'],
          ['POST', 'authenticate/mfa'],
        ] as const) {
          const reply = await service.call(`${api}/${path}`, { method, ...bearer(access_token) })
          assertRefused(reply, 401, 'UNAUTHORIZED')
          assert.equal(reply.headers['www-authenticate'], CODE_DEMANDED, `${method} ${path}`)
        }
      }
      const logout = { method: 'DELETE', ...bearer(access_token) }
      assert.equal((await service.call(`${CLIENT_API}/current-api-session`, logout)).status, 200)
    },
  )

  await t.test('D-52: a session that has proven a code goes on', async () => {
    const policy = await admin.createPolicy()
    const ada = await enrolledPerson(service, admin, { policy })
    const login = await partialLogin(service, ada)
    const done = await submitCode(service, login.authRequestId, ada.app.nextCode())
    const { access_token } = (await exchangeOf(service, login, done)).json()
    await demandTotp(policy)
    const reply = await service.call(`${CLIENT_API}/current-identity`, bearer(access_token))
    assert.equal(reply.status, 200, reply.text)
  })

  await t.test(
    'D-52: a live legacy session turns partial, and a code completes it again',
    async () => {
      const policy = await admin.createPolicy()
      const ada = await admin.createIdentity({ password: PASSWORD, policy })
      const call = callsOf(service, await legacyToken(service, ada))
      assert.equal((await call(`${CLIENT_API}/current-identity`)).status, 200)
      await demandTotp(policy)
      for (const api of APIS) {
        const refused = await call(`${api}/current-identity`)
        assertPartial(refused, false)
        const session = await call(`${api}/current-api-session`)
        assert.equal(session.status, 200, session.text)
        assert.equal(session.json().data.authQueries[0].httpUrl, './authenticate/mfa')
        assert.equal(session.json().data.isMfaComplete, false)
        assert.equal(session.json().data.isMfaRequired, true)
      }
      const started = await call(`${CLIENT_API}/current-identity/mfa`, { method: 'POST' })
      assert.equal(started.status, 201, started.text)
      const app = authenticatorApp(started.json().data.provisioningUrl, service.clock)
      const json = { code: app.code() }
      const verified = await call(`${CLIENT_API}/current-identity/mfa/verify`, { json })
      assert.equal(verified.status, 200, verified.text)
      assert.equal((await call(`${CLIENT_API}/current-identity`)).status, 200)
    },
  )

  await t.test('D-52: a partial legacy session may always log out', async () => {
    const policy = await admin.createPolicy()
    const ada = await admin.createIdentity({ password: PASSWORD, policy })
    const call = callsOf(service, await legacyToken(service, ada))
    await demandTotp(policy)
    const logout = await call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
    assert.equal(logout.status, 200, logout.text)
    assert.deepEqual(logout.json(), { data: {}, meta: {} })
    const after = await call(`${CLIENT_API}/current-api-session`)
    assert.equal(after.headers['www-authenticate'], NO_SUCH_SESSION)
  })
})

test('D-13: a code that was proven before the policy asked for more', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const signer = await admin.createSigner({ issuer: 'https://idp.example' })
  /** A login with its code proven, that lacks an external JWT which was demanded in between. */
  const halfway = async () => {
    const policy = await totpPolicy(admin)
    const ada = await enrolledPerson(service, admin, { policy })
    const login = await partialLogin(service, ada)
    await demand(admin, policy, { requireExtJwt: signer })
    const reply = await submitCode(service, login.authRequestId, ada.app.nextCode())
    assert.equal(reply.status, 401, reply.text)
    assert.match(String(reply.headers['www-authenticate']), /realm="service-secondary-ext-jwt"/)
    assert.equal(reply.headers.location, undefined)
    await demand(admin, policy, { requireExtJwt: null })
    return { ada, login }
  }

  await t.test('stays proven for the same identity', async () => {
    const { ada, login } = await halfway()
    const done = await submitPassword(service, login.authRequestId, credentials(ada))
    const tokens = (await exchangeOf(service, login, done)).json()
    assert.equal(decodeJwt(tokens.access_token).sub, ada.id)
    assert.deepEqual(decodeJwt(tokens.access_token)['amr'], ['pwd', 'otp', 'mfa'])
  })

  // Attack: he proves his own code, and puts somebody else's password in its place.
  await t.test('does not count for other identities', async () => {
    const { login } = await halfway()
    const bob = await enrolledPerson(service, admin)
    const reply = await submitPassword(service, login.authRequestId, credentials(bob))
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.json().authQueries[0].typeId, 'MFA')
    const done = await submitCode(service, login.authRequestId, bob.app.code())
    const tokens = (await exchangeOf(service, login, done)).json()
    assert.equal(decodeJwt(tokens.access_token).sub, bob.id)
  })
})

function credentials({ username, password }: CreatedIdentity) {
  return { username, password }
}
