/** Expired sessions end in time, and nothing is read while none can have expired. D-42, D-304. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { NOON } from '../../../../test/support/clocks/manual-clock.ts'
import { anOidcSession } from '../../../../test/support/people.ts'
import type { ApiSessionId } from '../../../base/ids.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import {
  type Duration,
  hours,
  milliseconds,
  minutes,
  seconds,
} from '../../../base/time/duration.ts'
import { type Instant, plus } from '../../../base/time/instant.ts'
import { openStore } from '../../../store/open.ts'
import { auditPorts } from '../../audit/ports.ts'
import { BATCH_ROWS } from '../../paging.ts'
import { createEndExpired } from './end-expired.ts'

/** As the instance calls it. */
const EVERY = milliseconds(400)

async function world(t: TestContext) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  let past: Instant = NOON
  const counts = { looks: 0, transactions: 0 }
  const clock = { now: () => past, uptime: () => minutes(0) }
  const { round, dueIn } = createEndExpired({
    ...auditPorts({ clock, random: systemRandom }),
    accessTokenLife: minutes(30),
    past: () => past,
    apiSessions: {
      firstExpiry: () => {
        counts.looks += 1
        return store.apiSessions.firstExpiry()
      },
    },
    transaction: (work) => {
      counts.transactions += 1
      return store.transaction(work)
    },
  })
  return {
    counts,
    round,
    dueIn,
    set: (at: Instant) => {
      past = at
    },
    /** Rounds for this long; answers the time of the first one that ended something. */
    async pass(time: Duration): Promise<Instant | undefined> {
      const end = plus(past, time)
      let endedAt: Instant | undefined
      for (; past < end; past = plus(past, EVERY)) {
        if ((await round()) > 0) endedAt ??= past
      }
      return endedAt
    },
    insert: (id: string, expiresAt: Instant) =>
      store.apiSessions.insert(anOidcSession({ id: id as ApiSessionId, expiresAt })),
    isThere: async (id: string) => (await store.apiSessions.find(id as ApiSessionId)) !== undefined,
  }
}

test('an idle hour reads the store twice a minute and writes nothing', async (t) => {
  const { counts, pass, insert } = await world(t)
  await insert('later', plus(NOON, hours(2)))
  await pass(hours(1))
  assert.equal(counts.transactions, 0)
  assert.ok(counts.looks <= 121, `${counts.looks} looks`)
})

test('a session ends in the first round after its expiry', async (t) => {
  const { pass, insert, isThere } = await world(t)
  const expiry = plus(NOON, milliseconds(70_123))
  await insert('one', expiry)
  const endedAt = await pass(minutes(3))
  assert.ok(endedAt !== undefined && endedAt >= expiry && endedAt <= plus(expiry, EVERY))
  assert.equal(await isThere('one'), false)
})

test('a session that began right after a look, and lives for the shortest time, ends in time', async (t) => {
  const { round, pass, insert } = await world(t)
  await round()
  const expiry = plus(NOON, minutes(1))
  await insert('short', expiry)
  const endedAt = await pass(minutes(3))
  assert.ok(endedAt !== undefined && endedAt >= expiry && endedAt <= plus(expiry, EVERY))
})

// The rounds of an idle instance are a second apart, and a connection is closed within a second (D-42).
test('D-364: the next round is due when the next session expires', async (t) => {
  const { set, round, dueIn, insert } = await world(t)
  assert.equal(dueIn(), undefined)
  await insert('one', plus(NOON, milliseconds(2_345)))
  await insert('other', plus(NOON, milliseconds(2_400)))
  await round()
  assert.equal(dueIn(), 2_345)
  set(plus(NOON, seconds(2)))
  assert.equal(await round(), 0)
  assert.equal(dueIn(), 345)
  set(plus(NOON, milliseconds(2_345)))
  assert.equal(await round(), 1)
  // More may have expired than one round ends.
  assert.equal(dueIn(), undefined)
  await round()
  assert.equal(dueIn(), 55)
})

test('sessions that expire a second apart each end in time', async (t) => {
  const { set, round, insert, isThere } = await world(t)
  for (let i = 1; i <= 3; i++) await insert(`s${i}`, plus(NOON, seconds(i)))
  for (let i = 1; i <= 3; i++) {
    set(plus(NOON, seconds(i)))
    assert.equal(await round(), 1)
    assert.equal(await isThere(`s${i}`), false)
  }
})

test('more than a batch that expired together ends in the next rounds', async (t) => {
  const { set, round, insert, counts } = await world(t)
  for (let i = 0; i <= BATCH_ROWS; i++) await insert(`s${i}`, plus(NOON, seconds(1)))
  set(plus(NOON, seconds(1)))
  assert.equal(await round(), BATCH_ROWS)
  assert.equal(await round(), 1)
  assert.equal(await round(), 0)
  assert.equal(counts.transactions, 2)
})

test('a clock that was ahead and is set back does not delay the end of a session', async (t) => {
  const { set, round, insert } = await world(t)
  set(plus(NOON, hours(5)))
  await round()
  set(NOON)
  await insert('one', plus(NOON, seconds(1)))
  await round()
  set(plus(NOON, seconds(1)))
  assert.equal(await round(), 1)
})

test('a round that failed looks again in the next one', async (t) => {
  const { set, round, insert, isThere, counts } = await world(t)
  await insert('one', NOON)
  set(NOON)
  const failing = createEndExpired({
    ...auditPorts({
      clock: { now: () => NOON, uptime: () => minutes(0) },
      random: systemRandom,
    }),
    accessTokenLife: minutes(30),
    past: () => NOON,
    apiSessions: {
      firstExpiry: async () => {
        counts.looks += 1
        throw new Error('no database')
      },
    },
    transaction: () => assert.fail(),
  })
  await assert.rejects(failing.round(), /no database/)
  await assert.rejects(failing.round(), /no database/)
  assert.equal(counts.looks, 2)
  assert.equal(await round(), 1)
  assert.equal(await isThere('one'), false)
})
