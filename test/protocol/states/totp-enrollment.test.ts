/**
 * Every row of the table in SPEC States and transitions / TOTP enrollment during an OIDC flow, over TLS. A title names
 * its row: the state and the trigger.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  authenticatorApp,
  cancelEnrollment,
  PASSWORD,
  partialLogin,
  scanned,
  startEnrollment,
  submitCode,
  totpPolicy,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { answerOf, exchangeOf } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

/** Somebody whose policy demands a code, who has no app yet, and whose password was right. */
async function notEnrolled(t: TestContext) {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const ada = await admin.createIdentity({ password: PASSWORD, policy: await totpPolicy(admin) })
  const login = await partialLogin(service, ada)
  return { service, admin, ada, login, id: login.authRequestId }
}

test('SPEC TOTP enrollment during an OIDC flow: not enrolled, POST /oidc/login/totp/enroll', async (t) => {
  const { service, admin, ada, id } = await notEnrolled(t)
  const reply = await startEnrollment(service, id)
  assert.equal(reply.status, 201, reply.text)
  const started = reply.json()
  assert.deepEqual(Object.keys(started).toSorted(), [
    'id',
    'isVerified',
    'provisioningUrl',
    'recoveryCodes',
  ])
  assert.equal(started.isVerified, false)
  assert.match(
    started.provisioningUrl,
    /^otpauth:\/\/totp\/[^?]+\?issuer=localhost&secret=[A-Z2-7]{32}$/,
  )
  assert.equal(started.recoveryCodes.length, 20)
  // The auth request stays active, and nothing is enrolled yet.
  const queries = (await service.call(`/oidc/login/auth-queries?id=${id}`)).json().authQueries
  assert.equal(queries.length, 1)
  assert.equal(queries[0].isTotpEnrolled, false)
  assert.equal((await admin.get(`/identities/${ada.id}`)).isMfaEnabled, false)
})

test('SPEC TOTP enrollment during an OIDC flow: pending, POST /oidc/login/totp/enroll/verify with a correct code', async (t) => {
  const { service, admin, ada, login, id } = await notEnrolled(t)
  const { app } = await scanned(service, id)
  const verified = await verifyEnrollment(service, id, app.code())
  // D-20: it counts as the TOTP factor of this login.
  assert.equal((await exchangeOf(service, login, verified)).status, 200)
  assert.equal((await admin.get(`/identities/${ada.id}`)).isMfaEnabled, true)
  // From then on every authentication asks for a code.
  const next = await partialLogin(service, ada)
  assert.equal(next.reply.json().authQueries[0].isTotpEnrolled, true)
  assert.ok(answerOf(await submitCode(service, next.authRequestId, app.nextCode())).get('code'))
})

test('SPEC TOTP enrollment during an OIDC flow: pending, DELETE /oidc/login/totp/enroll', async (t) => {
  const { service, admin, ada, login, id } = await notEnrolled(t)
  const abandoned = await scanned(service, id)
  const reply = await cancelEnrollment(service, id)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.json(), {})
  assert.equal((await admin.get(`/identities/${ada.id}`)).isMfaEnabled, false)
  const late = await verifyEnrollment(service, id, abandoned.app.code())
  assertRefused(late, 404, 'MFA_ENROLLMENT_NOT_STARTED')
  // A fresh one may be started, with a secret of its own.
  const fresh = await startEnrollment(service, id)
  assert.equal(fresh.status, 201, fresh.text)
  const { provisioningUrl } = fresh.json()
  assert.notEqual(provisioningUrl, abandoned.app.provisioningUrl)
  const app = authenticatorApp(provisioningUrl, service.clock)
  const verified = await verifyEnrollment(service, id, app.code())
  assert.equal((await exchangeOf(service, login, verified)).status, 200)
})
