/**
 * The copy of ended sessions: nothing that commits late is missed, and a copy that is too old says so. D-34.
 * The store is a list here: what is in it is committed, and `read` tells how far back a refresh went.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../base/clock.ts'
import { type Duration, milliseconds, minutes, seconds } from '../../base/duration.ts'
import type { ApiSessionId } from '../../base/ids.ts'
import { type Instant, instant, plus } from '../../base/instant.ts'
import type { SessionEnding } from './api-session.ts'
import { createEndedSessions } from './ended-sessions.ts'

const NOON = instant(1_800_000_000_000)
/** How often an instance follows, and how long a transaction can take: app/instance.ts, store/dialects/postgres.ts. */
const FOLLOW = milliseconds(400)
const LONGEST_TRANSACTION = seconds(30)

function ending(id: string, keepUntil: Instant = plus(NOON, minutes(30))): SessionEnding {
  return { sessionId: id as ApiSessionId, at: NOON, keepUntil }
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
