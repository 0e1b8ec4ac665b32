/**
 * The copy of ended sessions: nothing that commits late is missed, and a copy that is too old says so. D-34.
 * The store is a list here: what is in it is committed, and `read` tells how far back a refresh went.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiSessionId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import {
  type Duration,
  hours,
  milliseconds,
  minutes,
  seconds,
} from '../../../base/time/duration.ts'
import { type Instant, instant, plus } from '../../../base/time/instant.ts'
import type { SessionEnding } from '../api-session.ts'
import { createEndedSessions } from './ended-sessions.ts'

const NOON = instant(1_800_000_000_000)
/** How often an instance follows, and how long a transaction can take: app/instance.ts, store/dialects/postgres/limits.ts. */
const FOLLOW = milliseconds(400)
const LONGEST_TRANSACTION = seconds(30)

function ending(id: string, keepUntil: Instant = plus(NOON, minutes(30))): SessionEnding {
  return { subject: id as ApiSessionId, at: NOON, keepUntil }
}

function world() {
  const committed: (SessionEnding & { readonly sequence: number })[] = []
  const readFrom: number[] = []
  let uptime = seconds(1_000)
  let now = NOON
  let readTakes = milliseconds(0)
  let isDown = false
  const clock: Clock = { now: () => now, uptime: () => uptime }
  const ended = createEndedSessions({
    clock,
    sessionEndings: {
      async listAfter(after) {
        if (isDown) throw new Error('the database is away')
        readFrom.push(after)
        uptime = milliseconds(uptime + readTakes)
        return committed
          .filter(({ sequence }) => sequence > after)
          .sort((a, b) => a.sequence - b.sequence)
      },
    },
  })
  return {
    ended,
    readFrom,
    has: (id: string) => ended.has(id as ApiSessionId),
    commit: (sequence: number, one: SessionEnding) => committed.push({ ...one, sequence }),
    pass: (time: Duration) => {
      uptime = milliseconds(uptime + time)
      now = plus(now, time)
    },
    jump: (time: Duration) => {
      now = plus(now, time)
    },
    slowReads: (time: Duration) => {
      readTakes = time
    },
    goDown: () => {
      isDown = true
    },
  }
}

/** Lets an instance follow the list for so long. */
async function follow({ ended, pass }: ReturnType<typeof world>, time: Duration): Promise<void> {
  for (let passed = 0; passed < time; passed += FOLLOW) {
    pass(FOLLOW)
    await ended.refresh()
  }
}

test('D-34: a session that another instance ended is known after the next refresh', async () => {
  const instance = world()
  await instance.ended.refresh()
  assert.equal(instance.has('theirs'), false)
  instance.commit(1, ending('theirs'))
  await instance.ended.refresh()
  assert.equal(instance.has('theirs'), true)
  assert.equal(instance.has('another'), false)
})

test('D-34: a session that this instance ended is known at once, without a refresh', async () => {
  const instance = world()
  instance.ended.add(ending('ours'))
  assert.equal(instance.has('ours'), true)
})

test('D-34: an ending that commits after one with a higher number is not missed', async () => {
  const instance = world()
  await follow(instance, minutes(2))
  instance.commit(2, ending('fast'))
  await follow(instance, LONGEST_TRANSACTION)
  instance.commit(1, ending('slow'))
  await instance.ended.refresh()
  assert.equal(instance.has('fast'), true)
  assert.equal(instance.has('slow'), true)
})

test('D-34: an ending whose transaction was under way when the instance started is not missed', async () => {
  const instance = world()
  instance.commit(2, ending('fast'))
  await instance.ended.refresh()
  await follow(instance, LONGEST_TRANSACTION)
  instance.commit(1, ending('slow'))
  await instance.ended.refresh()
  assert.equal(instance.has('slow'), true)
})

test('D-34: a read that itself takes long shortens nothing of the overlap', async () => {
  const instance = world()
  await follow(instance, minutes(2))
  // The number is seen at the end of a slow read; the lower one commits a whole transaction after that.
  instance.commit(2, ending('fast'))
  instance.slowReads(seconds(40))
  await instance.ended.refresh()
  instance.slowReads(milliseconds(0))
  await follow(instance, seconds(28))
  instance.commit(1, ending('slow'))
  await instance.ended.refresh()
  assert.equal(instance.has('slow'), true)
})

test('D-34: what is older than the overlap is not read again and again', async () => {
  const instance = world()
  for (const sequence of [1, 2, 3]) instance.commit(sequence, ending(`session-${sequence}`))
  await instance.ended.refresh()
  await follow(instance, minutes(2))
  assert.equal(instance.readFrom.at(-1), 3)
  instance.commit(4, ending('session-4'))
  await instance.ended.refresh()
  assert.deepEqual(
    [1, 2, 3, 4].map((sequence) => instance.has(`session-${sequence}`)),
    [true, true, true, true],
  )
})

test('an ending is forgotten when no token of its session can be alive', async () => {
  const instance = world()
  instance.commit(1, ending('short', plus(NOON, minutes(1))))
  instance.ended.add(ending('own', plus(NOON, minutes(1))))
  instance.commit(2, ending('long', plus(NOON, minutes(30))))
  await instance.ended.refresh()
  await follow(instance, milliseconds(minutes(1) - FOLLOW))
  assert.deepEqual([instance.has('short'), instance.has('own')], [true, true])
  await follow(instance, FOLLOW)
  assert.deepEqual([instance.has('short'), instance.has('own')], [false, false])
  assert.equal(instance.has('long'), true)
})

test('an ending is not forgotten earlier because the session is ended again', async () => {
  const instance = world()
  instance.ended.add(ending('ours', plus(NOON, minutes(30))))
  instance.ended.add(ending('ours', plus(NOON, minutes(1))))
  await follow(instance, minutes(2))
  assert.equal(instance.has('ours'), true)
})

test('D-34: a copy that was never read is stale', () => {
  assert.equal(world().ended.isStale(), true)
})

test('D-34: a copy is stale when it is older than 5 s, and not before', async () => {
  const instance = world()
  await instance.ended.refresh()
  instance.pass(seconds(5))
  assert.equal(instance.ended.isStale(), false)
  instance.pass(milliseconds(1))
  assert.equal(instance.ended.isStale(), true)
  await instance.ended.refresh()
  assert.equal(instance.ended.isStale(), false)
})

test('D-34: the age of a copy can be read, once there is one', async () => {
  const instance = world()
  assert.equal(instance.ended.age(), undefined)
  await instance.ended.refresh()
  instance.pass(seconds(3))
  assert.equal(instance.ended.age(), seconds(3))
})

test('D-34: a refresh that fails leaves the copy as old as it was', async () => {
  const instance = world()
  instance.commit(1, ending('theirs'))
  await instance.ended.refresh()
  instance.pass(seconds(6))
  instance.goDown()
  await assert.rejects(() => instance.ended.refresh(), /the database is away/)
  assert.equal(instance.ended.isStale(), true)
  assert.equal(instance.has('theirs'), true)
})

test('D-34: the age of a copy counts from the beginning of its read', async () => {
  const instance = world()
  instance.slowReads(seconds(6))
  await instance.ended.refresh()
  assert.equal(instance.ended.isStale(), true)
})

test('R115: a jump of the time of day makes no copy stale', async () => {
  const instance = world()
  await instance.ended.refresh()
  instance.jump(minutes(10))
  assert.equal(instance.ended.isStale(), false)
  instance.jump(milliseconds(-minutes(20)))
  assert.equal(instance.ended.isStale(), false)
})

// Attack: the clock is an hour ahead for two seconds, and every token that was logged out before works again. Failed
// before D-230.
test('R115: an ended session stays ended while the time of day is ahead, and after it is corrected', async () => {
  const instance = world()
  instance.commit(1, ending('theirs'))
  instance.ended.add(ending('ours'))
  await follow(instance, minutes(3))
  instance.jump(hours(1))
  await follow(instance, seconds(2))
  assert.equal(instance.has('theirs'), true)
  assert.equal(instance.has('ours'), true)
  instance.jump(milliseconds(-hours(1)))
  await instance.ended.refresh()
  assert.equal(instance.has('theirs'), true)
  assert.equal(instance.has('ours'), true)
})

test('R115: a clock that was set back does not make an ending be forgotten early', async () => {
  const instance = world()
  instance.ended.add(ending('ours'))
  instance.jump(milliseconds(-hours(1)))
  await follow(instance, minutes(40))
  assert.equal(instance.has('ours'), true)
  await follow(instance, minutes(60))
  assert.equal(instance.has('ours'), false)
})

test('D-34: an ending that commits late while nothing can be read for long is not missed', async () => {
  // The database was away, or the machine asleep, for longer than the overlap: how the list stood that long ago is
  // how it stood at the last read, and what was under way then has committed since.
  const instance = world()
  await follow(instance, minutes(2))
  instance.commit(2, ending('fast'))
  await instance.ended.refresh()
  instance.pass(minutes(10))
  instance.commit(1, ending('slow'))
  await instance.ended.refresh()
  assert.equal(instance.has('slow'), true)
})

/** What a follower of this instance is told, by id. */
function told(instance: ReturnType<typeof world>): { readonly ids: string[]; stop: () => void } {
  const ids: string[] = []
  return { ids, stop: instance.ended.onEnd(({ subject }) => ids.push(subject)) }
}

const idsOf = (entries: readonly { readonly subject: string }[]) =>
  entries.map(({ subject }) => subject).toSorted()

test('D-42: every listener is told of every end once, immediately for its own instance, after the next read for others', async () => {
  const instance = world()
  instance.commit(1, ending('before'))
  await instance.ended.refresh()
  const { ids, stop } = told(instance)
  instance.ended.add(ending('ours'))
  assert.deepEqual(ids, ['ours'])
  instance.commit(2, ending('ours'))
  instance.commit(3, ending('theirs'))
  await instance.ended.refresh()
  await follow(instance, seconds(2))
  instance.ended.add(ending('ours'))
  assert.deepEqual(ids, ['ours', 'theirs'])
  stop()
  instance.ended.add(ending('later'))
  assert.deepEqual(ids, ['ours', 'theirs'])
})

test('D-42: one listener that stops does not stop another', async () => {
  const instance = world()
  const [one, other] = [told(instance), told(instance)]
  one.stop()
  instance.ended.add(ending('ours'))
  assert.deepEqual([one.ids, other.ids], [[], ['ours']])
})

test('D-42: a listener is told of an ending that commits late', async () => {
  const instance = world()
  await follow(instance, minutes(2))
  const { ids } = told(instance)
  instance.commit(2, ending('fast'))
  await follow(instance, LONGEST_TRANSACTION)
  instance.commit(1, ending('slow'))
  await instance.ended.refresh()
  assert.deepEqual(ids, ['fast', 'slow'])
})

test('entries are everything that is known, or what is above a number', async () => {
  const instance = world()
  for (const sequence of [1, 2, 3]) instance.commit(sequence, ending(`session-${sequence}`))
  await instance.ended.refresh()
  assert.deepEqual(idsOf(instance.ended.entries()), ['session-1', 'session-2', 'session-3'])
  assert.deepEqual(idsOf(instance.ended.entries(2)), ['session-3'])
  assert.deepEqual(idsOf(instance.ended.entries(3)), [])
  assert.deepEqual(instance.ended.entries(2), [
    { subject: 'session-3', keepUntil: plus(NOON, minutes(30)), keepFor: minutes(30) },
  ])
})

test('an end whose number is not known yet is above every number; then it has its own', async () => {
  const instance = world()
  await instance.ended.refresh()
  instance.ended.add(ending('ours'))
  assert.deepEqual(idsOf(instance.ended.entries(1_000)), ['ours'])
  instance.commit(5, ending('ours'))
  await instance.ended.refresh()
  assert.deepEqual(idsOf(instance.ended.entries(4)), ['ours'])
  assert.deepEqual(idsOf(instance.ended.entries(5)), [])
})

test('entries that have expired are left out', async () => {
  const instance = world()
  instance.commit(1, ending('short', plus(NOON, minutes(1))))
  instance.commit(2, ending('long'))
  await instance.ended.refresh()
  await follow(instance, minutes(1))
  assert.deepEqual(idsOf(instance.ended.entries()), ['long'])
})

test('there is no cursor before the first read, and none that promises anything soon after it', async () => {
  const instance = world()
  assert.deepEqual([instance.ended.cursor(), instance.ended.latest()], [undefined, 0])
  instance.commit(7, ending('theirs'))
  await instance.ended.refresh()
  // What was under way at the start may still commit below 7.
  assert.deepEqual([instance.ended.cursor(), instance.ended.latest()], [0, 7])
  await follow(instance, minutes(2))
  assert.deepEqual([instance.ended.cursor(), instance.ended.latest()], [7, 7])
})

test('D-34: no ending ever shows up at or below a cursor that was given out', async () => {
  // Every number is taken a moment before it commits, for as long as a transaction can live. A receiver that has
  // seen a cursor asks only for what is above it: at that time it must have been told of everything below.
  const instance = world()
  const { ids } = told(instance)
  const given: number[] = []
  const latency = [LONGEST_TRANSACTION, milliseconds(0), seconds(10), FOLLOW, seconds(29)]
  const underWay: { readonly sequence: number; readonly left: number }[] = []
  let next = 0
  for (let round = 0; round < 600; round++) {
    next += 1
    underWay.push({ sequence: next, left: Math.ceil((latency[round % 5] ?? 0) / FOLLOW) + round })
    for (const { sequence } of underWay.filter(({ left }) => left === round)) {
      instance.commit(sequence, ending(`session-${sequence}`, plus(NOON, minutes(60))))
    }
    // Now and then nothing is read for long.
    if (round % 50 < 40) await instance.ended.refresh()
    const cursor = instance.ended.cursor() ?? 0
    given.push(cursor)
    for (let sequence = 1; sequence <= cursor; sequence++) {
      assert.ok(ids.includes(`session-${sequence}`), `${sequence} is below the cursor ${cursor}`)
    }
    instance.pass(FOLLOW)
  }
  assert.deepEqual(
    given,
    given.toSorted((a, b) => a - b),
    'it never goes back',
  )
  assert.ok((given.at(-1) ?? 0) > 300, 'and it moves')
})

test('D-289: what another process has read replaces a read, and keeps the copy as fresh as its own', async () => {
  const { ended, has, pass, readFrom } = world()
  await ended.refresh()
  pass(seconds(4))
  ended.learn([{ ...ending('one'), sequence: 1 }], milliseconds(300))
  assert.ok(has('one'))
  assert.equal(ended.age(), 300)
  assert.equal(ended.latest(), 1)
  // Older than what is known already: nothing becomes less fresh.
  ended.learn([], seconds(60))
  assert.equal(ended.age(), 300)
  assert.deepEqual(readFrom, [0], 'the store was not read again')
})

test('D-289: what arrives before the first read is kept, and does not count as one', async () => {
  const { ended, has } = world()
  ended.learn([{ ...ending('one'), sequence: 1 }], milliseconds(0))
  assert.ok(has('one'))
  assert.ok(ended.isStale())
  assert.equal(ended.cursor(), undefined)
})

test('D-289: an ending that commits late is not missed by a reader whose copy only learns', async () => {
  const { ended, pass } = world()
  await ended.refresh()
  ended.learn([{ ...ending('two'), sequence: 2 }], milliseconds(0))
  pass(LONGEST_TRANSACTION)
  ended.learn([{ ...ending('one'), sequence: 1 }], milliseconds(0))
  // A router that has seen 2 asks again from the cursor, which is still before 1.
  assert.ok((ended.cursor() ?? Number.NaN) < 1)
  pass(minutes(3))
  ended.learn([], milliseconds(0))
  pass(minutes(3))
  ended.learn([], milliseconds(0))
  assert.equal(ended.cursor(), 2)
})
