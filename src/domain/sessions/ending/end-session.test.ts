/** Ending a session: everything ends, once, and for as long as any of its tokens could live. D-34. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { NOON } from '../../../../test/support/clocks/manual-clock.ts'
import { anOidcSession, CALLER } from '../../../../test/support/people.ts'
import type { ApiSessionId } from '../../../base/ids.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { type Duration, hours, minutes } from '../../../base/time/duration.ts'
import { plus } from '../../../base/time/instant.ts'
import { openStore } from '../../../store/open.ts'
import { auditPorts } from '../../audit/ports.ts'
import { BATCH_ROWS } from '../../paging.ts'
import { replaceStores } from '../../replace-stores.ts'
import type { SessionEnding } from '../api-session.ts'
import { endSession, endSessionsWithin } from './end-session.ts'
import { tellCopies } from './tell-copies.ts'

const { id: SESSION, identityId: IDENTITY } = anOidcSession()
const END = {
  sessionId: SESSION,
  identityId: IDENTITY,
  reason: 'code-reused',
  caller: CALLER,
} as const

async function world(t: TestContext, accessTokenLife: Duration) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  const clock = { now: () => NOON, uptime: () => minutes(0) }
  const endings: SessionEnding[] = []
  const ports = {
    ...auditPorts({ clock, random: systemRandom }),
    transaction: tellCopies(store.transaction, {
      endedSessions: { add: (ending) => endings.push(ending) },
      rules: { refresh: async () => {} },
    }),
    accessTokenLife,
  }
  return { store, endings, ports }
}

test('D-34: an ended session is gone from the store, and its ending is there and felt here', async (t) => {
  const { store, endings, ports } = await world(t, minutes(30))
  await store.apiSessions.insert(anOidcSession({ expiresAt: plus(NOON, minutes(30)) }))
  await endSession(ports, END)
  assert.equal(await store.apiSessions.find(SESSION), undefined)
  const ending = { subject: SESSION, at: NOON, keepUntil: plus(NOON, minutes(45)) }
  assert.deepEqual(
    (await store.sessionEndings.listAfter(0)).map(({ sequence, ...stored }) => stored),
    [ending],
  )
  assert.deepEqual(endings, [{ ...ending, sequence: 1 }])
})

test('D-34: an ending is kept as long as a token that was signed under a longer configured life', async (t) => {
  // Attack: the operator shortens accessTokenDuration, a stolen session is ended, and its old token comes back
  // to life when the ending is forgotten after the new, shorter life.
  const { store, endings, ports } = await world(t, minutes(1))
  const ends = { expiresAt: plus(NOON, hours(24)), tokensEndAt: plus(NOON, hours(1)) }
  await store.apiSessions.insert(anOidcSession(ends))
  await endSession(ports, END)
  assert.deepEqual(
    endings.map(({ keepUntil }) => keepUntil),
    [plus(NOON, minutes(75))],
  )
  const [stored] = await store.sessionEndings.listAfter(0)
  assert.equal(stored?.keepUntil, plus(NOON, minutes(75)))
})

// Every instance and router holds all endings in memory. Failed before D-231: endings were kept for 24 hours.
test('D-231: an ending is kept as long as a token can live, not as long as its session could have', async (t) => {
  const { store, endings, ports } = await world(t, minutes(30))
  const ends = { expiresAt: plus(NOON, hours(24)), tokensEndAt: plus(NOON, minutes(20)) }
  await store.apiSessions.insert(anOidcSession(ends))
  await endSession(ports, END)
  assert.deepEqual(
    endings.map(({ keepUntil }) => keepUntil),
    [plus(NOON, minutes(45))],
  )
})

test('D-231: the ending of a session without a recorded token expiry is kept until the session would have ended', async (t) => {
  const { store, endings, ports } = await world(t, minutes(1))
  await store.apiSessions.insert(anOidcSession({ expiresAt: plus(NOON, hours(24)) }))
  await endSession(ports, END)
  assert.deepEqual(
    endings.map(({ keepUntil }) => keepUntil),
    [plus(NOON, minutes(24 * 60 + 15))],
  )
})

test('D-231: a token that a refresh has signed since the session was read counts too', async (t) => {
  const { store, endings, ports } = await world(t, minutes(1))
  const session = anOidcSession({ tokensEndAt: plus(NOON, minutes(5)) })
  await store.apiSessions.insert(session)
  const read = await store.apiSessions.listOf(IDENTITY)
  await store.apiSessions.remove(SESSION)
  await store.apiSessions.insert({ ...session, tokensEndAt: plus(NOON, hours(1)) })
  await ports.transaction((tx) =>
    endSessionsWithin(ports, tx, { sessions: read }, 'identity-disabled', CALLER),
  )
  assert.deepEqual(
    endings.map(({ keepUntil }) => keepUntil),
    [plus(NOON, minutes(75))],
  )
})

test('D-34: a session that is not stored yet is ended all the same', async (t) => {
  const { store, endings, ports } = await world(t, minutes(30))
  await endSession(ports, END)
  assert.equal((await store.sessionEndings.listAfter(0)).length, 1)
  assert.equal(endings.length, 1)
})

test('D-34: ending a session twice is ending it once', async (t) => {
  const { store, ports } = await world(t, minutes(30))
  await store.apiSessions.insert(anOidcSession({ expiresAt: plus(NOON, minutes(30)) }))
  await endSession(ports, END)
  await endSession(ports, END)
  assert.equal((await store.sessionEndings.listAfter(0)).length, 1)
})

/** Two sessions of one identity, stored. */
async function twoSessions(t: TestContext) {
  const all = await world(t, minutes(30))
  const sessions = [anOidcSession(), anOidcSession({ id: 'session-2' as ApiSessionId })]
  for (const session of sessions) await all.store.apiSessions.insert(session)
  return { ...all, sessions }
}

test('D-34: sessions that end with something else end in its transaction, and are felt after it', async (t) => {
  const { store, endings, sessions, ports } = await twoSessions(t)
  await ports.transaction(async (tx) => {
    await endSessionsWithin(ports, tx, { sessions }, 'identity-disabled', CALLER)
    assert.deepEqual(endings, [], 'not before it has committed')
  })
  const subjects = sessions.map(({ id }) => id)
  assert.deepEqual(
    endings.map(({ subject }) => subject),
    subjects,
  )
  const stored = await store.sessionEndings.listAfter(0)
  assert.deepEqual(
    stored.map(({ subject }) => subject),
    subjects,
  )
  for (const id of subjects) assert.equal(await store.apiSessions.find(id), undefined)
})

test('D-34: where the transaction fails, no session has ended', async (t) => {
  const { store, endings, sessions, ports } = await twoSessions(t)
  const failing = ports.transaction(async (tx) => {
    await endSessionsWithin(ports, tx, { sessions }, 'identity-disabled', CALLER)
    throw new Error('out of luck')
  })
  await assert.rejects(failing, { message: 'out of luck' })
  assert.deepEqual(endings, [])
  assert.deepEqual(await store.sessionEndings.listAfter(0), [])
  for (const { id } of sessions) assert.ok(await store.apiSessions.find(id))
})

// One after the other, 500 of them held their locks for seconds where the database is a millisecond away, and a refresh
// of one of them got 503.
test('D-485: what ends several sessions is sent together', async (t) => {
  const { store, ports } = await world(t, minutes(30))
  const sessions = ['a', 'b', 'c'].map((id) => anOidcSession({ id: id as ApiSessionId }))
  for (const session of sessions) await store.apiSessions.insert(session)
  let begun = 0
  await ports.transaction(async (tx) => {
    const waiting = replaceStores(tx, {
      apiSessions: (stores) => ({
        ...stores,
        async remove(id) {
          begun += 1
          await setImmediate()
          assert.equal(begun, sessions.length, 'none waits for another one')
          return stores.remove(id)
        },
      }),
    })
    await endSessionsWithin(ports, waiting, { sessions }, 'administrator', CALLER)
  })
  assert.equal((await store.sessionEndings.listAfter(0)).length, sessions.length)
})

test('D-485: any number of sessions is locked in batches, in the order of their ids', async (t) => {
  const { store, ports } = await world(t, minutes(30))
  const ids = Array.from({ length: BATCH_ROWS + 2 }, (_, i) => `${1_000 - i}` as ApiSessionId)
  const sessions = ids.map((id) => anOidcSession({ id }))
  for (const session of sessions) await store.apiSessions.insert(session)
  const locked: (readonly ApiSessionId[])[] = []
  await ports.transaction(async (tx) => {
    const watched = replaceStores(tx, {
      apiSessions: (stores) => ({
        ...stores,
        holdAll(batch) {
          locked.push(batch)
          return stores.holdAll(batch)
        },
      }),
    })
    await endSessionsWithin(ports, watched, { sessions }, 'administrator', CALLER)
  })
  assert.deepEqual(
    locked.map(({ length }) => length),
    [BATCH_ROWS, 2],
  )
  assert.deepEqual(locked.flat(), ids.toSorted())
  assert.equal((await store.sessionEndings.listAfter(0)).length, sessions.length)
})
