/**
 * Guessing at codes: a wrong one changes nothing, ten end the login, ten in a row slow the identity down whatever the
 * login. D-18; R086, R088. Attack: somebody has the password and tries the million codes, over as many logins as he
 * likes and from everywhere a code is asked for.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { milliseconds, minutes, seconds } from '../../../src/base/time/duration.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  type EnrolledPerson,
  enrolledPerson,
  PASSWORD,
  partialLogin,
  scanned,
  startEnrollment,
  submitCode,
  totpPolicy,
  verifyEnrollment,
} from '../../support/login/authenticator-app.ts'
import { authenticate, CLIENT_API, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { answerOf } from '../../support/login/login.ts'
import { assertRefused, startHeld } from '../../support/management.ts'
import { forAll, type Service } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

async function guess(
  service: Service,
  person: EnrolledPerson,
  id: string,
  times: number,
): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const reply = await submitCode(service, id, person.app.wrongCode())
    assertRefused(reply, 400, 'MFA_INVALID_TOKEN')
  }
}

/** On as many logins as it takes, so that no login comes near its own end. */
async function guessOnMany(service: Service, person: EnrolledPerson, times: number): Promise<void> {
  for (let left = times; left > 0; left -= 4) {
    const { authRequestId } = await partialLogin(service, person)
    await guess(service, person, authRequestId, Math.min(4, left))
  }
}

function assertBlocked(reply: Reply): number {
  assertRefused(reply, 429, 'RATE_LIMITED')
  const after = String(reply.headers['retry-after'])
  assert.match(after, /^[1-9]\d*$/)
  return Number(after)
}

describe('a wrong code', () => {
  // Together they have more failures than one address may have in a minute.
  const held = forAll((t) =>
    startHeld(t, { config: { edge: { limits: { failuresPerAddress: 0 } } } }),
  )

  test('R088: a wrong code is 400 and leaves the login partially authenticated', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const { authRequestId } = await partialLogin(service, ada)
    await guess(service, ada, authRequestId, 9)
    const queries = await service.call(`/oidc/login/auth-queries?id=${authRequestId}`)
    assert.equal(queries.json().authQueries[0].typeId, 'MFA')
    const reply = await submitCode(service, authRequestId, ada.app.code())
    assert.ok(answerOf(reply).get('code'), 'the tenth may still be right')
  })

  test('R086: ten wrong codes end the login, and not even the password brings it back', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const { authRequestId: id } = await partialLogin(service, ada)
    await guess(service, ada, id, 10)
    const { username, password } = ada
    for (const reply of [
      await submitCode(service, id, ada.app.code()),
      await service.call('/oidc/login/username', { json: { id, username, password } }),
      await service.call(`/oidc/login/auth-queries?id=${id}`),
      await service.call(`/oidc/login/username?id=${id}`),
      await startEnrollment(service, id),
    ]) {
      assertRefused(reply, 400, 'INVALID_AUTH_REQUEST')
      assert.match(reply.json().error.message, /start again/)
    }
  })

  test('R086: the wrong codes of one login count together, also when the password is proven again', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const { authRequestId: id } = await partialLogin(service, ada)
    const { username, password } = ada
    for (const times of [4, 4]) {
      await guess(service, ada, id, times)
      const again = await service.call('/oidc/login/username', { json: { id, username, password } })
      assert.equal(again.status, 200, again.text)
    }
    await guess(service, ada, id, 2)
    assertRefused(await submitCode(service, id, ada.app.code()), 400, 'INVALID_AUTH_REQUEST')
  })

  test('D-18: a code where nothing is enrolled is a wrong code', async () => {
    const { service, admin } = held
    const policy = await totpPolicy(admin)
    const bob = await admin.createIdentity({ password: PASSWORD, policy })
    const { authRequestId } = await partialLogin(service, bob)
    for (const code of ['123456', 'ABCDEF']) {
      const reply = await submitCode(service, authRequestId, code)
      assertRefused(reply, 400, 'MFA_INVALID_TOKEN')
    }
    // Pending is not enrolled: neither the app nor its recovery codes open anything yet.
    const { app, recoveryCodes } = await scanned(service, authRequestId)
    for (const code of [app.code(), recoveryCodes[0] ?? '']) {
      const reply = await submitCode(service, authRequestId, code)
      assertRefused(reply, 400, 'MFA_INVALID_TOKEN')
    }
  })

  test('R086: guesses at the verification of an enrollment count the same', async () => {
    const { service, admin } = held
    const bob = await admin.createIdentity({ password: PASSWORD, policy: await totpPolicy(admin) })
    const { authRequestId: id } = await partialLogin(service, bob)
    const { app } = await scanned(service, id)
    for (let i = 0; i < 10; i += 1) {
      const reply = await verifyEnrollment(service, id, app.wrongCode())
      assertRefused(reply, 400, 'MFA_INVALID_TOKEN')
    }
    assertRefused(await verifyEnrollment(service, id, app.code()), 400, 'INVALID_AUTH_REQUEST')
    const next = await partialLogin(service, bob)
    const fresh = await scanned(service, next.authRequestId)
    assertBlocked(await verifyEnrollment(service, next.authRequestId, fresh.app.code()))
  })

  test('D-18: wrong codes lock neither the password nor other identities', async () => {
    const { service, admin } = held
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true, maxAttempts: 2, lockoutDurationMinutes: 5 } },
    })
    const ada = await enrolledPerson(service, admin, { policy })
    const bob = await enrolledPerson(service, admin, { policy })
    await guessOnMany(service, ada, 10)
    const { authRequestId } = await partialLogin(service, ada)
    assertBlocked(await submitCode(service, authRequestId, ada.app.code()))
    assert.equal((await authenticate(service, ada)).status, 200, 'her password still opens')
    const other = await partialLogin(service, bob)
    const reply = await submitCode(service, other.authRequestId, bob.app.code())
    assert.ok(answerOf(reply).get('code'))
  })

  test('D-18: a hundred guesses at the same moment count as a hundred', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const logins = []
    for (let i = 0; i < 12; i += 1) logins.push(await partialLogin(service, ada))
    const wrong = ada.app.wrongCode()
    const replies = await Promise.all(
      logins.flatMap(({ authRequestId }) =>
        Array.from({ length: 9 }, () => submitCode(service, authRequestId, wrong)),
      ),
    )
    const judged = replies.filter(({ status }) => status === 400)
    assert.equal(judged.length, 10, 'no more than ten were looked at')
    assert.equal(replies.filter(({ status }) => status === 429).length, replies.length - 10)
  })
})

test('D-18: ten in a row over several logins are answered 429, with a wait that grows', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  await guessOnMany(service, ada, 10)
  const waits: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const { authRequestId: id } = await partialLogin(service, ada)
    // Not even a right code is looked at, and asking costs nothing.
    const wait = assertBlocked(await submitCode(service, id, ada.app.code()))
    assert.equal(assertBlocked(await submitCode(service, id, ada.app.wrongCode())), wait)
    assert.equal(assertBlocked(await submitCode(service, id, ada.recoveryCodes[0] ?? '')), wait)
    waits.push(wait)
    service.clock.advance(milliseconds(seconds(wait) - 1))
    const early = await partialLogin(service, ada)
    assert.equal(
      assertBlocked(await submitCode(service, early.authRequestId, ada.app.wrongCode())),
      1,
    )
    service.clock.advance(milliseconds(1))
    await guess(service, ada, early.authRequestId, 1)
  }
  for (const [i, wait] of waits.entries()) {
    if (i > 0) assert.ok(wait > (waits[i - 1] ?? 0), `${waits.join(', ')}: each is longer`)
  }
  const longest = waits.at(-1) ?? 0
  service.clock.advance(seconds(longest * 2))
  const { authRequestId } = await partialLogin(service, ada)
  const reply = await submitCode(service, authRequestId, ada.app.code())
  assert.ok(answerOf(reply).get('code'), 'after the wait a right code is taken')
})

test('D-18: a correct code restarts the count', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  for (let round = 0; round < 3; round += 1) {
    await guessOnMany(service, ada, 9)
    const { authRequestId } = await partialLogin(service, ada)
    const reply = await submitCode(service, authRequestId, ada.app.nextCode())
    assert.ok(answerOf(reply).get('code'))
  }
  await guessOnMany(service, ada, 9)
  const { authRequestId } = await partialLogin(service, ada)
  const recovered = await submitCode(service, authRequestId, ada.recoveryCodes[0] ?? '')
  assert.ok(answerOf(recovered).get('code'), 'a recovery code does too')
  await guessOnMany(service, ada, 9)
})

test('D-18: after a block and a right code, the first block is short again', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const firstBlock = async () => {
    await guessOnMany(service, ada, 10)
    const { authRequestId } = await partialLogin(service, ada)
    return assertBlocked(await submitCode(service, authRequestId, ada.app.code()))
  }
  const first = await firstBlock()
  service.clock.advance(seconds(first))
  const { authRequestId } = await partialLogin(service, ada)
  assert.ok(answerOf(await submitCode(service, authRequestId, ada.app.nextCode())).get('code'))
  assert.equal(await firstBlock(), first)
})

test('R086: guesses in a session count for the same identity as guesses at a login', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const call = callsOf(service, await legacyToken(service, ada))
  const mfa = `${CLIENT_API}/current-identity/mfa`
  const proven = { json: { code: ada.app.nextCode() } }
  assert.equal((await call(`${CLIENT_API}/authenticate/mfa`, proven)).status, 200)
  const wrong = { json: { code: ada.app.wrongCode() } }
  for (const [path, options] of [
    [`${CLIENT_API}/authenticate/mfa`, wrong],
    [`${mfa}/recovery-codes`, wrong],
    [mfa, { ...wrong, method: 'DELETE' }],
    [mfa, { method: 'DELETE', headers: { 'mfa-validation-code': ada.app.wrongCode() } }],
  ] as const) {
    assertRefused(await call(path, options), 400, 'MFA_INVALID_TOKEN')
  }
  // A request without any code is no guess.
  const none = await call(mfa, { method: 'DELETE' })
  assertRefused(none, 400, 'COULD_NOT_VALIDATE', 'code')
  const { authRequestId } = await partialLogin(service, ada)
  await guess(service, ada, authRequestId, 6)
  const right = { json: { code: ada.app.code(1) } }
  for (const [path, options] of [
    [`${CLIENT_API}/authenticate/mfa`, right],
    [`${mfa}/recovery-codes`, right],
    [mfa, { ...right, method: 'DELETE' }],
  ] as const) {
    const reply = await call(path, options)
    assertBlocked(reply)
    assert.ok(
      reply.headers['expires-at'],
      'D-39: an authenticated answer, also when it is an error',
    )
  }
  assertBlocked(await submitCode(service, authRequestId, ada.app.code()))
})

test('R086: a login that was ended stays ended until it would have expired', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const { authRequestId: id } = await partialLogin(service, ada)
  await guess(service, ada, id, 10)
  service.clock.advance(milliseconds(minutes(10) - 1))
  assertRefused(await submitCode(service, id, ada.app.code()), 400, 'INVALID_AUTH_REQUEST')
  const [counted] = await sql(
    service,
    "select count(*) as n from events where reason = 'too-many-codes'",
  )
  assert.equal(counted?.['n'], 1, 'R109: the operator is told which guess ended it')
})
