/**
 * Logins that somebody or something changes in the middle: another identity, an identity that is disabled, an app that
 * comes or goes. D-13, D-16; R092.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  type EnrolledPerson,
  enrolledPerson,
  PASSWORD,
  partialLogin,
  scanned,
  setUpApp,
  startEnrollment,
  submitCode,
  totpPolicy,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { assertPartial, CLIENT_API, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { answerOf, exchangeOf, submitPassword } from '../../support/login/login.ts'
import { assertRefused, logInAs, startHeld } from '../../support/management.ts'
import type { Service } from '../../support/service.ts'

function again(service: Service, id: string, person: { username: string; password: string }) {
  const { username, password } = person
  return submitPassword(service, id, { username, password })
}

test('D-13: a second primary login on one auth request', async (t) => {
  const { service, admin } = await startHeld(t)
  const policy = await totpPolicy(admin)
  const ada = await enrolledPerson(service, admin)
  const bob = await enrolledPerson(service, admin)

  // Attack: he proves his own code and puts somebody else's password in front of it, or the other way round.
  await t.test(
    'by another login starts over: the code of the first one is not accepted',
    async () => {
      const login = await partialLogin(service, ada)
      const reply = await again(service, login.authRequestId, bob)
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.json().authQueries[0].typeId, 'MFA')
      const refused = await submitCode(service, login.authRequestId, ada.app.nextCode())
      assertRefused(refused, 400, 'MFA_INVALID_TOKEN')
      const done = await submitCode(service, login.authRequestId, bob.app.code())
      const tokens = (await exchangeOf(service, login, done)).json()
      assert.equal(decodeJwt(tokens.access_token).sub, bob.id)
    },
  )

  await t.test('completes the login of an identity that needs nothing else', async () => {
    const eve = await admin.createIdentity({ password: PASSWORD })
    const login = await partialLogin(service, ada)
    const done = await again(service, login.authRequestId, eve)
    const tokens = (await exchangeOf(service, login, done)).json()
    assert.equal(decodeJwt(tokens.access_token).sub, eve.id)
    assert.deepEqual(decodeJwt(tokens.access_token)['amr'], ['pwd'])
  })

  await t.test('an enrollment that the first one began does not count for the second', async () => {
    const first = await admin.createIdentity({ password: PASSWORD, policy })
    const second = await admin.createIdentity({ password: PASSWORD, policy })
    const { authRequestId: id } = await partialLogin(service, first)
    const { app } = await scanned(service, id)
    assert.equal((await again(service, id, second)).status, 200)
    const verified = await verifyEnrollment(service, id, app.code())
    assertRefused(verified, 404, 'MFA_ENROLLMENT_NOT_STARTED')
    assert.equal((await admin.get(`/identities/${first.id}`)).isMfaEnabled, false)
    assert.equal((await admin.get(`/identities/${second.id}`)).isMfaEnabled, false)
  })

  await t.test('that fails changes nothing', async () => {
    const login = await partialLogin(service, ada)
    const wrong = { username: bob.username, password: 'not the right one' }
    assertRefused(await again(service, login.authRequestId, wrong), 401, 'INVALID_AUTH')
    const done = await submitCode(service, login.authRequestId, ada.app.nextCode())
    const tokens = (await exchangeOf(service, login, done)).json()
    assert.equal(decodeJwt(tokens.access_token).sub, ada.id)
  })

  await t.test('by the same one keeps the login going', async () => {
    const login = await partialLogin(service, ada)
    const reply = await again(service, login.authRequestId, ada)
    assert.equal(reply.status, 200, reply.text)
    const done = await submitCode(service, login.authRequestId, ada.app.nextCode())
    assert.equal((await exchangeOf(service, login, done)).status, 200)
  })
})

// Attack: the same, in a race: the password of one and the code of another at the same moment.
test('D-13: a password of one and a code of another at once never make one login', async (t) => {
  const { service, admin } = await startHeld(t)
  const [ada, bob] = [await enrolledPerson(service, admin), await enrolledPerson(service, admin)]
  for (let round = 0; round < 5; round += 1) {
    const login = await partialLogin(service, ada)
    const [password, code] = await Promise.all([
      again(service, login.authRequestId, bob),
      submitCode(service, login.authRequestId, ada.app.nextCode()),
    ])
    if (code.status === 302) {
      const tokens = (await exchangeOf(service, login, code)).json()
      assert.equal(decodeJwt(tokens.access_token).sub, ada.id)
      assertRefused(password, 400, 'INVALID_AUTH_REQUEST')
    } else {
      assert.equal(code.status, 400, code.text)
      const done = await submitCode(service, login.authRequestId, bob.app.nextCode())
      const tokens = (await exchangeOf(service, login, done)).json()
      assert.equal(decodeJwt(tokens.access_token).sub, bob.id)
    }
  }
})

test('D-13: a code of one identity never counts for another', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const bob = await enrolledPerson(service, admin)
  const { authRequestId } = await partialLogin(service, bob)
  const refused = await submitCode(service, authRequestId, ada.app.code())
  assertRefused(refused, 400, 'MFA_INVALID_TOKEN')
  assert.ok(answerOf(await submitCode(service, authRequestId, bob.app.code())).get('code'))
  const own = await partialLogin(service, ada)
  const reply = await submitCode(service, own.authRequestId, ada.app.code())
  assert.ok(answerOf(reply).get('code'), 'and was not burnt by it')
})

test('R092: after an enrollment every later login asks for a code, though the policy does not', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await admin.createIdentity({ password: PASSWORD })
  await logInAs(service, ada)
  const { app } = await setUpApp(service, ada)
  for (let round = 0; round < 3; round += 1) {
    const { reply, authRequestId } = await partialLogin(service, ada)
    assert.equal(reply.json().authQueries[0].isTotpEnrolled, true)
    assert.ok(answerOf(await submitCode(service, authRequestId, app.nextCode())).get('code'))
    const token = await legacyToken(service, ada)
    assertPartial(await callsOf(service, token)(`${CLIENT_API}/current-identity`), true)
  }
})

test('D-16: after an administrator removes the app, the login continues without it', async (t) => {
  const { service, admin } = await startHeld(t)

  await t.test('where the policy demands none, the next password is enough', async () => {
    const ada = await enrolledPerson(service, admin)
    const { authRequestId } = await partialLogin(service, ada)
    await admin.act('DELETE', `/identities/${ada.id}/mfa`)
    // The code of the removed app is a wrong one by now, and so are its recovery codes.
    for (const code of [ada.app.code(), ada.recoveryCodes[0] ?? '']) {
      assertRefused(await submitCode(service, authRequestId, code), 400, 'MFA_INVALID_TOKEN')
    }
    await logInAs(service, ada)
  })

  await t.test('where it does, the query asks for an enrollment again', async () => {
    const ada = await enrolledPerson(service, admin, { policy: await totpPolicy(admin) })
    const login = await partialLogin(service, ada)
    assert.equal(login.reply.json().authQueries[0].isTotpEnrolled, true)
    await admin.act('DELETE', `/identities/${ada.id}/mfa`)
    const queries = await service.call(`/oidc/login/auth-queries?id=${login.authRequestId}`)
    assert.equal(queries.json().authQueries[0].isTotpEnrolled, false)
    const { app } = await scanned(service, login.authRequestId)
    const verified = await verifyEnrollment(service, login.authRequestId, app.code())
    assert.equal((await exchangeOf(service, login, verified)).status, 200)
  })
})

test('an identity that is disabled in the middle of a login', async (t) => {
  const { service, admin } = await startHeld(t)
  const policy = await totpPolicy(admin)

  const assertOver = async (
    id: string,
    person: EnrolledPerson | { username: string; password: string },
    code: string,
  ) => {
    for (const reply of [
      await submitCode(service, id, code),
      await startEnrollment(service, id),
      await verifyEnrollment(service, id, code),
      await service.call(`/oidc/login/auth-queries?id=${id}`),
      await service.call('/oidc/login/totp/enroll', { method: 'DELETE', json: { id } }),
    ]) {
      assertRefused(reply, 400, 'INVALID_AUTH_REQUEST')
    }
    assertRefused(await again(service, id, person), 401, 'INVALID_AUTH')
  }

  await t.test('gets no further with a right code', async () => {
    const ada = await enrolledPerson(service, admin)
    const { authRequestId } = await partialLogin(service, ada)
    await admin.act('POST', `/identities/${ada.id}/disable`)
    await assertOver(authRequestId, ada, ada.app.nextCode())
    // D-226: the earlier password does not count; a new proof does.
    await admin.act('POST', `/identities/${ada.id}/enable`)
    const late = await submitCode(service, authRequestId, ada.app.code())
    assertRefused(late, 400, 'INVALID_AUTH_REQUEST')
    assert.equal((await again(service, authRequestId, ada)).status, 200)
    const reply = await submitCode(service, authRequestId, ada.app.code())
    assert.ok(answerOf(reply).get('code'), 'and nothing was burnt meanwhile')
  })

  await t.test('gets no further with an enrollment', async () => {
    const bob = await admin.createIdentity({ password: PASSWORD, policy })
    const { authRequestId } = await partialLogin(service, bob)
    const { app } = await scanned(service, authRequestId)
    await admin.act('POST', `/identities/${bob.id}/disable`)
    await assertOver(authRequestId, bob, app.code())
    assert.equal((await admin.get(`/identities/${bob.id}`)).isMfaEnabled, false)
  })

  await t.test('gets no tokens for a code that was issued before', async () => {
    const ada = await enrolledPerson(service, admin)
    const login = await partialLogin(service, ada)
    const done = await submitCode(service, login.authRequestId, ada.app.nextCode())
    await admin.act('POST', `/identities/${ada.id}/disable`)
    const exchanged = await exchangeOf(service, login, done)
    assert.equal(exchanged.status, 400)
    assert.equal(exchanged.json().error, 'invalid_grant')
  })

  await t.test('that is deleted gets no further either', async () => {
    const ada = await enrolledPerson(service, admin)
    const { authRequestId } = await partialLogin(service, ada)
    await admin.act('DELETE', `/identities/${ada.id}`)
    await assertOver(authRequestId, ada, ada.app.nextCode())
  })
})
