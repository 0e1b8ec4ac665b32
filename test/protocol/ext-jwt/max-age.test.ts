/**
 * `max_age` if a program presents a JWT of an IdP, and if the user authenticates with our own methods: D-241, OIDC Core
 * §3.1.2.1. The browser login through an IdP is in browser-fresh.test.ts.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import { minutes, seconds } from '../../../src/base/time/duration.ts'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import { failureOf } from '../../support/audit.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  assertChallenged,
  primaryChallenge,
  registerIdp,
  submitJwt,
} from '../../support/idp/jwt-login.ts'
import {
  answerOf,
  beginLogin,
  exchange,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

async function start(t: TestContext) {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example' })
  await admin.createIdentity({ externalId: 'zoe' })
  return { service, idp }
}

const OLD = [
  ['an auth_time from before', { auth_time: -700 }],
  ['an auth_time from before, in a token that was issued just now', { auth_time: -700, iat: 0 }],
  ['no auth_time, issued before', { iat: -700 }],
  ['neither time', { iat: undefined }],
] as const

const FRESH = [
  ['a fresh auth_time', { auth_time: -650, iat: -650 }],
  ['a fresh auth_time and no time of issue', { auth_time: 0, iat: undefined }],
  ['no auth_time, issued just now', { iat: 0 }],
] as const

/** Claims whose times are relative to now. */
function timesFrom(now: number, claims: Readonly<Record<string, number | undefined>>) {
  return Object.fromEntries(
    Object.entries(claims).map(([name, ago]) => [name, ago === undefined ? undefined : now + ago]),
  )
}

test('a JWT that a program presents', async (t) => {
  const { service, idp } = await start(t)

  async function present(
    changes: Readonly<Record<string, string>>,
    claims: Readonly<Record<string, number | undefined>>,
  ): Promise<Reply> {
    const { authRequestId } = await beginLogin(service, changes)
    const now = epochSeconds(service.clock.now())
    return submitJwt(service, authRequestId, await idp.jwt('zoe', timesFrom(now, claims)))
  }

  for (const [what, claims] of OLD) {
    await t.test(`is refused with ${what} when max_age=600`, async () => {
      const reply = await present({ max_age: '600' }, claims)
      assertChallenged(reply, primaryChallenge('invalid', idp))
      const { reason, details } = await failureOf(service, reply)
      const why = 'it does not show an authentication as recent as the client asked for'
      assert.deepEqual([reason, details['why']], ['jwt-invalid', why])
      assert.ok(answerOf(await present({}, claims)).get('code'), 'and is accepted without max_age')
    })
  }

  for (const [what, claims] of FRESH) {
    await t.test(`is accepted with ${what} when max_age=600`, async () => {
      assert.ok(answerOf(await present({ max_age: '600' }, claims)).get('code'))
    })
  }

  for (const changes of [{ prompt: 'login' }, { max_age: '0' }]) {
    await t.test(`must be newer than the login for ${Object.entries(changes)}`, async () => {
      assertChallenged(await present(changes, { iat: -120 }), primaryChallenge('invalid', idp))
      assert.ok(answerOf(await present(changes, { iat: -50 })).get('code'), 'a minute for clocks')

      // A login may take up to ten minutes.
      const { authRequestId } = await beginLogin(service, changes)
      const jwt = await idp.jwt('zoe')
      service.clock.advance(minutes(5))
      assert.ok(answerOf(await submitJwt(service, authRequestId, jwt)).get('code'))
    })
  }

  await t.test('does not count a text that is not a time', async () => {
    const { authRequestId } = await beginLogin(service, { max_age: '600' })
    const jwt = await idp.jwt('zoe', { auth_time: 'now', iat: undefined })
    assertChallenged(await submitJwt(service, authRequestId, jwt), primaryChallenge('invalid', idp))
  })
})

test('our own methods ask every time, so max_age changes nothing, and auth_time says when', async (t) => {
  const { service } = await start(t)
  for (const max_age of ['0', '1', '86400', '999999999']) {
    const { authRequestId, verifier } = await beginLogin(service, { max_age })
    service.clock.advance(minutes(1))
    const at = epochSeconds(service.clock.now())
    const code = answerOf(await submitPassword(service, authRequestId)).get('code') ?? ''
    service.clock.advance(seconds(1))
    const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
    const tokens = await exchange(service, form)
    assert.equal(tokens.status, 200, tokens.text)
    assert.equal(decodeJwt(tokens.json().id_token)['auth_time'], at)
  }
})
