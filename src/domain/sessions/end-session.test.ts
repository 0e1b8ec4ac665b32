/** Ending a session: everything ends, once, and for as long as any of its tokens could live. D-34. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Duration, hours, minutes } from '../../base/duration.ts'
import type { ApiSessionId, AuthenticatorId, IdentityId, RequestId } from '../../base/ids.ts'
import { type Instant, instant, plus } from '../../base/instant.ts'
import { systemRandom } from '../../base/random.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { openStore } from '../../store/open.ts'
import { createRecordEvent } from '../audit/record.ts'
import type { ApiSession, SessionEnding } from './api-session.ts'
import { createEndSession } from './end-session.ts'

const NOON = instant(1_800_000_000_000)
const SESSION = 'session-1' as ApiSessionId
const IDENTITY = 'identity-1' as IdentityId
const END = {
  sessionId: SESSION,
  identityId: IDENTITY,
  reason: 'code-reused',
  caller: { address: '192.0.2.1', requestId: 'request-1' as RequestId, userAgent: undefined },
} as const

function aSession(expiresAt: Instant): ApiSession {
  return {
    id: SESSION,
    kind: 'oidc',
    identityId: IDENTITY,
    authenticatorId: 'authenticator-1' as AuthenticatorId,
    issuer: 'https://localhost:1280/oidc' as Issuer,
    clientId: 'service',
    amr: ['pwd'],
    configTypes: [],
    address: '192.0.2.1',
    userAgent: undefined,
    createdAt: NOON,
    expiresAt,
  }
}

async function world(t: TestContext, accessTokenLife: Duration) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  const clock = { now: () => NOON, uptime: () => minutes(0) }
  const felt: SessionEnding[] = []
  const endSession = createEndSession({
    clock,
    transaction: store.transaction,
    endedSessions: { add: (ending) => felt.push(ending) },
    recordEvent: createRecordEvent({ clock, random: systemRandom }),
    accessTokenLife,
  })
  return { store, felt, endSession }
}

test('D-34: an ended session is gone from the store, and its ending is there and felt here', async (t) => {
  const { store, felt, endSession } = await world(t, minutes(30))
  await store.apiSessions.insert(aSession(plus(NOON, minutes(30))))
  await endSession(END)
  assert.equal(await store.apiSessions.find(SESSION), undefined)
  const ending = { sessionId: SESSION, at: NOON, keepUntil: plus(NOON, minutes(30)) }
  assert.deepEqual(
    (await store.sessionEndings.listAfter(0)).map(({ sequence, ...stored }) => stored),
    [ending],
  )
  assert.deepEqual(felt, [ending])
})

test('D-34: an ending is kept as long as a token that was signed under a longer configured life', async (t) => {
  // Attack: the operator shortens accessTokenDuration, a stolen session is ended, and its old token comes back
  // to life when the ending is forgotten after the new, shorter life.
  const { store, felt, endSession } = await world(t, minutes(1))
  await store.apiSessions.insert(aSession(plus(NOON, hours(1))))
  await endSession(END)
  assert.deepEqual(
    felt.map(({ keepUntil }) => keepUntil),
    [plus(NOON, hours(1))],
  )
  const [stored] = await store.sessionEndings.listAfter(0)
  assert.equal(stored?.keepUntil, plus(NOON, hours(1)))
})

test('D-34: a session that is not stored yet is ended all the same', async (t) => {
  const { store, felt, endSession } = await world(t, minutes(30))
  await endSession(END)
  assert.equal((await store.sessionEndings.listAfter(0)).length, 1)
  assert.equal(felt.length, 1)
})

test('D-34: ending a session twice is ending it once', async (t) => {
  const { store, endSession } = await world(t, minutes(30))
  await store.apiSessions.insert(aSession(plus(NOON, minutes(30))))
  await endSession(END)
  await endSession(END)
  assert.equal((await store.sessionEndings.listAfter(0)).length, 1)
})
