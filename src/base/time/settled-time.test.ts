/** Which moments are certainly past, even when the time of day is wrong. R115, D-230. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON } from '../../../test/support/clocks/manual-clock.ts'
import { type Duration, hours, milliseconds, minutes, seconds } from './duration.ts'
import { type Instant, plus } from './instant.ts'
import { createSettledTime, SETTLES_AFTER, WATCHED_FOR } from './settled-time.ts'

function world() {
  let uptime = seconds(100)
  let now: Instant = NOON
  const jumps: number[] = []
  const settled = createSettledTime({
    clock: { now: () => now, uptime: () => uptime },
    onJump: (by) => jumps.push(by),
  })
  return {
    settled,
    jumps,
    now: () => now,
    jump: (by: number) => {
      now = plus(now, milliseconds(by))
    },
    /** Lets time pass, and reads the clocks every second. */
    pass(time: Duration) {
      for (let passed = 0; passed < time; passed += seconds(1)) {
        uptime = milliseconds(uptime + seconds(1))
        now = plus(now, seconds(1))
        settled.look()
      }
    },
  }
}

test('while the clock is not set, everything up to now is past', () => {
  const { settled, pass, now, jumps } = world()
  assert.equal(settled.past(), NOON)
  pass(minutes(3))
  assert.equal(settled.past(), now())
  assert.deepEqual(jumps, [])
})

test('R115: a clock that is set forward makes nothing past, and nothing is lost when it is set back', () => {
  const { settled, jump, pass, now } = world()
  pass(minutes(5))
  const before = now()
  jump(hours(1))
  assert.equal(settled.past(), before)
  pass(seconds(2))
  assert.equal(settled.past(), plus(before, seconds(2)))
  jump(-hours(1))
  assert.equal(settled.past(), now())
})

test('believes a clock that was set forward after an hour', () => {
  const { settled, jump, pass, now } = world()
  pass(minutes(5))
  jump(hours(3))
  pass(milliseconds(SETTLES_AFTER - minutes(2)))
  assert.equal(settled.past(), plus(now(), milliseconds(-hours(3))))
  pass(minutes(3))
  assert.equal(settled.past(), now())
})

test('believes a clock that is set back at once, because keeping rows too long does no harm', () => {
  const { settled, jump, now, pass } = world()
  pass(minutes(5))
  jump(-hours(2))
  assert.equal(settled.past(), now())
})

test('ignores a jump that is undone within the hour', () => {
  const { settled, jump, pass, now } = world()
  pass(minutes(5))
  for (let i = 0; i < 20; i++) {
    jump(hours(1))
    pass(minutes(5))
    assert.equal(settled.past(), plus(now(), milliseconds(-hours(1))))
    jump(-hours(1))
    pass(minutes(1))
    assert.equal(settled.past(), now())
  }
})

test('allows no deletion before the clocks were watched for a while', () => {
  const { settled, pass, now } = world()
  assert.equal(settled.removable(), undefined)
  pass(milliseconds(WATCHED_FOR - seconds(1)))
  assert.equal(settled.removable(), undefined)
  pass(seconds(1))
  assert.equal(settled.removable(), now())
})

test('never believes a clock that is ahead of the database', () => {
  const { settled, jump, pass, now } = world()
  const database = () => plus(now(), milliseconds(-hours(1)))
  jump(hours(1))
  settled.compare(database())
  pass(hours(5))
  assert.equal(settled.past(), database())
  assert.equal(settled.removable(), database())
  assert.equal(settled.aheadOfDatabase(), hours(1))
  jump(-hours(1))
  settled.compare(now())
  assert.equal(settled.past(), now())
  assert.equal(settled.aheadOfDatabase(), 0)
})

test('a database clock that is a few seconds behind delays nothing, and one that is ahead changes nothing', () => {
  for (const difference of [-seconds(20), hours(1)]) {
    const { settled, now } = world()
    settled.compare(plus(now(), milliseconds(difference)))
    assert.equal(settled.past(), now(), `${difference}`)
    assert.equal(settled.aheadOfDatabase(), 0)
  }
})

test('reports every jump of five seconds or more once, with its direction', () => {
  const { settled, jump, jumps, pass } = world()
  pass(seconds(3))
  jump(hours(1))
  pass(seconds(3))
  jump(-hours(1))
  settled.past()
  settled.past()
  jump(seconds(4))
  pass(seconds(3))
  assert.deepEqual(jumps, [hours(1), -hours(1)])
})
