/** RFC 8628 §3.5: how often a device may ask. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON } from '../../../test/support/clocks/manual-clock.ts'
import { milliseconds, seconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { judgePoll } from './device-code.ts'

const interval = seconds(5)
const at = (passed: number) => plus(NOON, milliseconds(passed))

test('the first poll, and every poll after the interval, is in time', () => {
  const inTime = { isTooEarly: false, interval, isStored: true }
  assert.deepEqual(judgePoll({ polledAt: undefined, interval }, NOON), inTime)
  assert.deepEqual(judgePoll({ polledAt: NOON, interval }, at(5000)), inTime)
  assert.deepEqual(
    judgePoll({ polledAt: NOON, interval }, at(4000)),
    inTime,
    'timers are not exact',
  )
})

test('a poll that is too early makes the interval five seconds longer', () => {
  const judged = judgePoll({ polledAt: NOON, interval }, at(3999))
  assert.deepEqual(judged, { isTooEarly: true, interval: seconds(10), isStored: true })
})

test('D-442: from a minute on, a poll that is too early costs no write', () => {
  const judged = judgePoll({ polledAt: NOON, interval: seconds(60) }, at(1))
  assert.deepEqual(judged, { isTooEarly: true, interval: seconds(60), isStored: false })
})
