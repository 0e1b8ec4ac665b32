/**
 * Setting up an app inside a login: every order of start, verify and cancel. D-19, D-20;
 * R087, R089 – R091.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { URI } from 'otpauth'
import {
  cancelEnrollment,
  enrolledPerson,
  PASSWORD,
  partialLogin,
  scanned,
  startEnrollment,
  submitCode,
  totpPolicy,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { answerOf, beginLogin, exchangeOf, submitPassword } from '../../support/login/login.ts'
import { type Administrator, assertRefused, startHeld } from '../../support/management.ts'
import { forAll, type Service } from '../../support/service.ts'

/** Neither digits nor the letters of recovery codes: right for nobody. */
const NO_CODE = '00000x'

/** Somebody without an app whose policy demands one, after the password. */
async function newcomer(service: Service, admin: Administrator, name?: string) {
  const policy = await totpPolicy(admin)
  const named = name === undefined ? {} : { name, username: 'somebody' }
  const ada = await admin.createIdentity({ password: PASSWORD, policy, ...named })
  const login = await partialLogin(service, ada)
  return { ada, login, id: login.authRequestId }
}

describe('an app is set up inside a login', () => {
  const held = forAll(startHeld)

  test('R089: starting twice replaces what is pending, with its recovery codes', async () => {
    const { service, admin } = held
    const { login, id } = await newcomer(service, admin)
    const first = await scanned(service, id)
    const second = await scanned(service, id)
    assert.notEqual(first.app.provisioningUrl, second.app.provisioningUrl)
    assert.notDeepEqual(first.recoveryCodes, second.recoveryCodes)
    assertRefused(await verifyEnrollment(service, id, first.app.code()), 400, 'MFA_INVALID_TOKEN')
    const verified = await verifyEnrollment(service, id, second.app.code())
    assert.equal((await exchangeOf(service, login, verified)).status, 200)
  })

  test('R087: only the recovery codes of the verified enrollment work', async () => {
    const { service, admin } = held
    const { ada, id } = await newcomer(service, admin)
    const first = await scanned(service, id)
    const second = await scanned(service, id)
    assert.equal((await verifyEnrollment(service, id, second.app.code())).status, 302)
    const next = await partialLogin(service, ada)
    const stale = first.recoveryCodes.find((code) => !second.recoveryCodes.includes(code)) ?? ''
    const refused = await submitCode(service, next.authRequestId, stale)
    assertRefused(refused, 400, 'MFA_INVALID_TOKEN')
    const taken = await submitCode(service, next.authRequestId, second.recoveryCodes[0] ?? '')
    assert.ok(answerOf(taken).get('code'))
  })

  test('R089: a wrong code verifies nothing and leaves the enrollment pending', async () => {
    const { service, admin } = held
    const { ada, id } = await newcomer(service, admin)
    const { app, recoveryCodes } = await scanned(service, id)
    // A recovery code proves no app.
    for (const code of [app.wrongCode(), app.code(2), app.code(-2), recoveryCodes[0] ?? '']) {
      assertRefused(await verifyEnrollment(service, id, code), 400, 'MFA_INVALID_TOKEN')
    }
    assert.equal((await admin.get(`/identities/${ada.id}`)).isMfaEnabled, false)
    assert.equal((await verifyEnrollment(service, id, app.code())).status, 302)
  })

  test('R089: verifying and cancelling what was never started, or is cancelled, is 404', async () => {
    const { service, admin } = held
    const { id } = await newcomer(service, admin)
    const notStarted = async () => {
      const verified = await verifyEnrollment(service, id, NO_CODE)
      assertRefused(verified, 404, 'MFA_ENROLLMENT_NOT_STARTED')
      assertRefused(await cancelEnrollment(service, id), 404, 'MFA_ENROLLMENT_NOT_STARTED')
    }
    await notStarted()
    await scanned(service, id)
    assert.equal((await cancelEnrollment(service, id)).status, 200)
    await notStarted()
  })

  // Attack: somebody has the password of a person with an app, and wants an app of his own in its place.
  test('R090: a half-logged-in caller cannot replace, verify again or remove a verified app', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const { authRequestId: id } = await partialLogin(service, ada)
    const started = await startEnrollment(service, id)
    assertRefused(started, 409, 'MFA_EXISTS')
    assert.equal(started.text.includes('otpauth'), false)
    assertRefused(await cancelEnrollment(service, id), 409, 'MFA_EXISTS')
    const verified = await verifyEnrollment(service, id, ada.app.code())
    assertRefused(verified, 404, 'MFA_ENROLLMENT_NOT_STARTED')
    // Not even a right code for it counts there; the app works as before.
    const reply = await submitCode(service, id, ada.app.code())
    assert.ok(answerOf(reply).get('code'))
  })

  test('R090: two logins of one person: the app that is verified first stays', async () => {
    const { service, admin } = held
    const { ada, login, id } = await newcomer(service, admin)
    const other = await partialLogin(service, ada)
    const { app } = await scanned(service, id)
    const verified = await verifyEnrollment(service, id, app.code())
    assert.equal((await exchangeOf(service, login, verified)).status, 200)
    assertRefused(await startEnrollment(service, other.authRequestId), 409, 'MFA_EXISTS')
    const queries = await service.call(`/oidc/login/auth-queries?id=${other.authRequestId}`)
    assert.equal(queries.json().authQueries[0].isTotpEnrolled, true)
    const reply = await submitCode(service, other.authRequestId, app.code())
    assert.ok(answerOf(reply).get('code'), 'the other login goes on with a code of it')
  })

  test('R089: of two verifications at the same moment one wins, and one code is issued', async () => {
    const { service, admin } = held
    const { login, id } = await newcomer(service, admin)
    const { app } = await scanned(service, id)
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => verifyEnrollment(service, id, app.code())),
    )
    const [winner, ...others] = replies.toSorted((a, b) => a.status - b.status)
    assert.ok(winner)
    assert.deepEqual(
      others.filter(({ status }) => status === 302),
      [],
    )
    for (const { text } of others) {
      assert.match(text, /MFA_ENROLLMENT_NOT_STARTED|INVALID_AUTH_REQUEST/)
    }
    assert.equal((await exchangeOf(service, login, winner)).status, 200)
  })

  test('D-20: a code after the enrollment gets a new authorization code, and the earlier one is dead', async () => {
    const { service, admin } = held
    const { login, id } = await newcomer(service, admin)
    const { app } = await scanned(service, id)
    const verified = await verifyEnrollment(service, id, app.code())
    const posted = await submitCode(service, id, app.code())
    assert.notEqual(answerOf(verified).get('code'), answerOf(posted).get('code'))
    const dead = await exchangeOf(service, login, verified)
    assert.equal(dead.status, 400)
    assert.equal(dead.json().error, 'invalid_grant')
    assert.equal((await exchangeOf(service, login, posted)).status, 200)
  })

  test('R091: names with odd characters arrive in the app as they are', async () => {
    const { service, admin } = held
    const policy = await totpPolicy(admin)
    const names = [
      'a:b',
      'two words',
      'what?issuer=evil&secret=AAAA',
      'Zoë 💥 漢字',
      'a/b%2Fc#d',
      '"<script>alert(1)</script>"',
      "o'hara+plus&more=;",
    ]
    for (const [i, name] of names.entries()) {
      const username = `user ${i}`
      const ada = await admin.createIdentity({ name, username, password: PASSWORD, policy })
      const { authRequestId } = await partialLogin(service, ada)
      const { provisioningUrl } = (await startEnrollment(service, authRequestId)).json()
      assert.match(provisioningUrl, /^[!-~]+$/, 'printable ASCII')
      const url = new URL(provisioningUrl)
      assert.deepEqual([...url.searchParams.keys()], ['issuer', 'secret'])
      assert.equal(url.searchParams.get('issuer'), 'localhost')
      assert.equal(provisioningUrl.split('?').length, 2)
      const label = url.pathname.split('/').at(-1) ?? ''
      assert.equal(label.split(':').length, 2, 'one colon, between issuer and name')
      assert.equal(decodeURIComponent(label), `localhost:${name}`)
      // And in the words of an independent reader.
      const app = URI.parse(provisioningUrl)
      assert.equal(app.label, name)
      assert.equal(app.issuer, 'localhost')
    }
  })

  test('the enrollment of an identity that nothing demands a code of cannot begin in a login', async () => {
    const { service } = held
    const { authRequestId } = await beginLogin(service)
    assert.equal((await submitPassword(service, authRequestId)).status, 302)
    assertRefused(await startEnrollment(service, authRequestId), 400, 'INVALID_AUTH_REQUEST')
  })
})

test('D-20: that holds once, for a valid code, and not after the exchange', async (t) => {
  const { service, admin } = await startHeld(t)

  await t.test('a wrong code leaves the first authorization code alive', async () => {
    const policy = await totpPolicy(admin)
    const ada = await admin.createIdentity({ password: PASSWORD, policy })
    const login = await partialLogin(service, ada)
    const { app } = await scanned(service, login.authRequestId)
    const verified = await verifyEnrollment(service, login.authRequestId, app.code())
    const wrong = await submitCode(service, login.authRequestId, app.wrongCode())
    assertRefused(wrong, 400, 'MFA_INVALID_TOKEN')
    assert.equal((await exchangeOf(service, login, verified)).status, 200)
    const late = await submitCode(service, login.authRequestId, app.nextCode())
    assertRefused(late, 400, 'INVALID_AUTH_REQUEST')
  })

  await t.test('a third authorization code is not to be had', async () => {
    const policy = await totpPolicy(admin)
    const bob = await admin.createIdentity({ password: PASSWORD, policy })
    const login = await partialLogin(service, bob)
    const { app } = await scanned(service, login.authRequestId)
    await verifyEnrollment(service, login.authRequestId, app.code())
    const posted = await submitCode(service, login.authRequestId, app.code())
    const third = await submitCode(service, login.authRequestId, app.nextCode())
    assertRefused(third, 400, 'INVALID_AUTH_REQUEST')
    assert.equal((await exchangeOf(service, login, posted)).status, 200)
  })
})

test('D-19: the issuer that the app shows can be configured', async (t) => {
  const { service, admin } = await startHeld(t, {
    config: { edge: { totp: { hostname: 'login.example.org' } } },
  })
  const { id } = await newcomer(service, admin, 'ada')
  const { provisioningUrl } = (await startEnrollment(service, id)).json()
  assert.ok(
    provisioningUrl.startsWith(
      'otpauth://totp/login.example.org:ada?issuer=login.example.org&secret=',
    ),
    provisioningUrl,
  )
})
