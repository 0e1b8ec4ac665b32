/**
 * What a refresh token is worth, moment by moment: spent once, told apart when it comes again. D-27, R038 to R048. On the
 * real store, in memory.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { NOON } from '../../../test/support/clocks/manual-clock.ts'
import { ACCESS, REFRESH, SESSION, world } from '../../../test/support/login/refresh-world.ts'
import { anIdentity, proven, refusalOf } from '../../../test/support/people.ts'
import type { ApiSessionId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { hours, milliseconds, minutes, seconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import type { Scope } from '../../protocol/oidc.ts'
import { refreshTokenHash } from '../factors/refresh-token.ts'

const INVALID = 'INVALID_REFRESH_TOKEN'

test('R038: a refresh spends the old token for a new one, and moves the end of the session', async (t) => {
  const { store, clock, vault, token, refresh, stored, happened, last } = await world(t)
  clock.pass(minutes(10))
  const { refreshToken, identityId, expiresInSeconds, scope } = await refresh(token)
  const now = plus(NOON, minutes(10))
  assert.deepEqual(await stored(token), {
    hash: refreshTokenHash(vault, token),
    sessionId: SESSION,
    issuedAt: NOON,
    expiresAt: plus(NOON, REFRESH),
    spent: { at: now, successor: refreshTokenHash(vault, refreshToken) },
  })
  assert.deepEqual(await stored(refreshToken), {
    hash: refreshTokenHash(vault, refreshToken),
    sessionId: SESSION,
    issuedAt: now,
    expiresAt: plus(now, REFRESH),
    spent: undefined,
  })
  assert.equal((await store.apiSessions.find(SESSION))?.expiresAt, plus(now, REFRESH))
  assert.deepEqual([identityId, expiresInSeconds], [anIdentity().id, 1_800])
  assert.equal(scope, 'openid profile offline_access')
  assert.deepEqual(happened(), ['token.refreshed'])
  assert.deepEqual((last() as { details?: unknown }).details, { scope })
})

test('R046: a refresh token has 256 bits, a prefix of its own, and is not what is stored', async (t) => {
  const { token, refresh, stored } = await world(t)
  const { refreshToken } = await refresh(token)
  const text = refreshToken.reveal()
  assert.match(text, /^lkr_[A-Za-z0-9_-]{43}$/)
  assert.equal(Buffer.from(text.slice(4), 'base64url').length, 32)
  assert.notEqual(text, token.reveal())
  assert.doesNotMatch(JSON.stringify(await stored(refreshToken)), new RegExp(text.slice(4)))
})

test('R031: another client is refused, and the token is not spent', async (t) => {
  const { token, refresh, stored } = await world(t)
  for (const clientId of ['another', '', 'Service']) {
    assert.equal((await refusalOf(refresh(token, { clientId }))).code, 'INVALID_CLIENT')
  }
  assert.equal((await stored(token))?.spent, undefined)
})

test('an unknown token, and one that looks like a good one, are refused', async (t) => {
  const { token, refresh } = await world(t)
  const good = token.reveal()
  for (const text of ['', 'lkr_', good.slice(4), `${good} `, good.toUpperCase(), `${good}=`]) {
    assert.equal((await refusalOf(refresh(new Secret(text)))).code, INVALID, text.slice(0, 8))
  }
})

test('a token is good until the moment it expires', async (t) => {
  const { clock, token, refresh } = await world(t)
  clock.pass(milliseconds(REFRESH - 1))
  const { refreshToken } = await refresh(token)
  clock.pass(REFRESH)
  assert.equal((await refusalOf(refresh(refreshToken))).code, INVALID)
})

test('R043: expiry slides with every refresh, up to the absolute end and no further', async (t) => {
  const endsAt = plus(NOON, hours(60))
  const { store, clock, token, refresh, stored } = await world(t, { session: { endsAt } })
  let current = token
  for (const expected of [hours(47), hours(60), hours(60)]) {
    clock.pass(expected === hours(47) ? hours(23) : hours(18))
    current = (await refresh(current)).refreshToken
    assert.equal((await stored(current))?.expiresAt, plus(NOON, expected))
  }
  // At 59 h: the last access token outlives the session, so its row does too, or no one could end it.
  assert.equal((await store.apiSessions.find(SESSION))?.expiresAt, endsAt)
  clock.pass(minutes(50))
  current = (await refresh(current)).refreshToken
  const tokenEnd = plus(NOON, milliseconds(hours(59) + minutes(50) + ACCESS))
  assert.equal((await store.apiSessions.find(SESSION))?.expiresAt, tokenEnd)
  clock.pass(minutes(10))
  assert.equal((await refusalOf(refresh(current))).code, INVALID)
})

test('R039: a spent token is a lost answer for ten seconds, and theft from then on', async (t) => {
  for (const [passed, isTheft] of [
    [milliseconds(0), false],
    [milliseconds(9_999), false],
    [milliseconds(10_000), true],
    [hours(1), true],
  ] as const) {
    const { store, clock, token, refresh, happened, stored, felt } = await world(t)
    const { refreshToken } = await refresh(token)
    clock.pass(passed)
    assert.equal((await refusalOf(refresh(token))).code, INVALID)
    const isOver = (await store.apiSessions.find(SESSION)) === undefined
    assert.equal(isOver, isTheft, `after ${passed} ms`)
    assert.equal((await stored(refreshToken)) === undefined, isTheft)
    const more = isTheft ? ['token.reused', 'session.ended'] : ['token.refused']
    assert.deepEqual(happened(), ['token.refreshed', ...more])
    assert.deepEqual(
      felt.map(({ subject }) => subject),
      isTheft ? [SESSION] : [],
    )
  }
})

test('R039: a spent token whose successor was used is theft at once', async (t) => {
  // Attack: the thief refreshes a stolen token, and its owner comes a moment later; or the other way round.
  const { store, token, refresh, stored, last } = await world(t)
  const { refreshToken } = await refresh(token)
  const second = await refresh(refreshToken)
  assert.equal((await refusalOf(refresh(token))).code, INVALID)
  assert.equal(await store.apiSessions.find(SESSION), undefined)
  assert.equal((last() as { reason?: string }).reason, 'refresh-token-reused')
  for (const one of [token, refreshToken, second.refreshToken]) {
    assert.equal(await stored(one), undefined)
    assert.equal((await refusalOf(refresh(one))).code, INVALID)
  }
})

test('R039: theft ends that session, and none of the others of the identity', async (t) => {
  const { store, clock, token, open, refresh } = await world(t)
  const id = 'session-2' as ApiSessionId
  const other = await open({ id })
  await refresh(token)
  clock.pass(minutes(1))
  await refusalOf(refresh(token))
  assert.equal(await store.apiSessions.find(SESSION), undefined)
  assert.equal((await store.apiSessions.find(id))?.id, id)
  await refresh(other)
})

test('R040: of fifty at once one gets through, and its token is the only one alive', async (t) => {
  const { store, token, refresh, happened } = await world(t)
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => refresh(token)))
  const won = outcomes.filter((outcome) => outcome.status === 'fulfilled')
  assert.equal(won.length, 1)
  assert.notEqual(
    await store.apiSessions.find(SESSION),
    undefined,
    'the session is not ended as stolen',
  )
  assert.deepEqual(
    happened().filter((type) => type === 'token.reused'),
    [],
  )
  assert.ok(won[0])
  await refresh(won[0].value.refreshToken)
})

test('R041: within the retry window a repeat gets the same successor again', async (t) => {
  const { clock, token, refresh, happened } = await world(t, { retryWindow: seconds(20) })
  const first = await refresh(token)
  clock.pass(milliseconds(19_999))
  const again = await refresh(token)
  assert.equal(again.refreshToken.reveal(), first.refreshToken.reveal())
  assert.notEqual(again.accessToken, first.accessToken)
  const [one, other] = [decodeJwt(first.accessToken), decodeJwt(again.accessToken)]
  assert.equal(one['z_asid'], other['z_asid'])
  assert.deepEqual(happened(), ['token.refreshed'])
  await refresh(first.refreshToken)
})

test('R114: a repeat is answered only when the successor that it names is on the disk', async (t) => {
  const { token, refresh, disk } = await world(t, { retryWindow: seconds(20) })
  const first = await refresh(token)
  const sync = Promise.withResolvers<void>()
  disk.sync = () => sync.promise
  let isAnswered = false
  const again = refresh(token).then((got) => {
    isAnswered = true
    return got
  })
  await setTimeout(50)
  const wasAnswered = isAnswered
  sync.resolve()
  assert.equal((await again).refreshToken.reveal(), first.refreshToken.reveal())
  assert.equal(wasAnswered, false)
})

test('R041: the retry window ends when the successor is used', async (t) => {
  const { store, token, refresh } = await world(t, { retryWindow: seconds(20) })
  const { refreshToken } = await refresh(token)
  await refresh(refreshToken)
  assert.equal((await refusalOf(refresh(token))).code, INVALID)
  assert.equal(await store.apiSessions.find(SESSION), undefined)
})

test('R041: after the retry window a repeat is what it is without one', async (t) => {
  for (const [window, isTheft] of [
    [seconds(20), true],
    [seconds(5), false],
  ] as const) {
    const { store, clock, token, refresh } = await world(t, { retryWindow: window })
    await refresh(token)
    clock.pass(window)
    assert.equal((await refusalOf(refresh(token))).code, INVALID)
    assert.equal((await store.apiSessions.find(SESSION)) === undefined, isTheft)
  }
})

test('R041: of fifty at once within the retry window all get the same successor', async (t) => {
  const { token, refresh, happened } = await world(t, { retryWindow: seconds(20) })
  const all = await Promise.all(Array.from({ length: 50 }, () => refresh(token)))
  assert.equal(new Set(all.map(({ refreshToken }) => refreshToken.reveal())).size, 1)
  assert.deepEqual(
    happened().filter((type) => type === 'token.reused'),
    [],
  )
  assert.ok(all[0])
  await refresh(all[0].refreshToken)
})

test('R041: a token that was spent before the window was configured is not answered with a wrong one', async (t) => {
  const { store, token, refresh, ask, withWindow } = await world(t)
  const { refreshToken } = await refresh(token)
  const refreshLater = withWindow(minutes(1))
  assert.equal((await refusalOf(refreshLater(ask(token)))).code, INVALID)
  assert.notEqual(await store.apiSessions.find(SESSION), undefined)
  await refreshLater(ask(refreshToken))
})

for (const [asked, granted] of [
  [undefined, 'openid profile offline_access'],
  ['openid', 'openid'],
  ['offline_access openid', 'openid offline_access'],
  ['openid  openid', 'openid'],
] as const) {
  test(`R045: the scope ${asked} narrows the access token to ${granted}, and not the session`, async (t) => {
    const { token, refresh } = await world(t)
    const { accessToken, scope, refreshToken } = await refresh(token, { scope: asked })
    assert.equal(scope, granted)
    assert.equal(decodeJwt(accessToken)['scope'], granted)
    const next = await refresh(refreshToken)
    assert.equal(next.scope, 'openid profile offline_access')
  })
}

for (const asked of ['admin', 'openid admin', 'openid profile email', 'OPENID', ' ', '', '\t']) {
  test(`R045: the scope ${JSON.stringify(asked)} is refused, and the token is not spent`, async (t) => {
    const { token, refresh, stored } = await world(t)
    assert.equal((await refusalOf(refresh(token, { scope: asked }))).code, 'INVALID_SCOPE')
    assert.equal((await stored(token))?.spent, undefined)
    await refresh(token)
  })
}

test('R045: a refresh cannot widen to what was not granted at the login', async (t) => {
  const scopes: readonly Scope[] = ['openid', 'offline_access']
  const { token, refresh } = await world(t, { session: { scopes } })
  const scope = 'openid profile offline_access'
  assert.equal((await refusalOf(refresh(token, { scope }))).code, 'INVALID_SCOPE')
})

test('R048: z_asid, auth_time and amr are those of the login, for life', async (t) => {
  const session = { primary: proven({ at: plus(NOON, minutes(-5)) }), amr: ['pwd', 'otp', 'mfa'] }
  const { clock, token, refresh } = await world(t, { session })
  let current = token
  for (let i = 0; i < 3; i++) {
    clock.pass(hours(20))
    const { accessToken, idToken, refreshToken } = await refresh(current)
    for (const claims of [decodeJwt(accessToken), decodeJwt(idToken)]) {
      assert.equal(claims['z_asid'] ?? claims['sid'], SESSION)
      assert.equal(claims['auth_time'], (NOON - minutes(5)) / 1_000)
      assert.deepEqual(claims['amr'], ['pwd', 'otp', 'mfa'])
      assert.equal(claims.iat, clock.now() / 1_000)
    }
    assert.equal(decodeJwt(idToken)['nonce'], undefined)
    current = refreshToken
  }
})
