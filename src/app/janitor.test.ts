/** How much a round of the clean-up removes of the events. D-134. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON } from '../../test/support/clocks/manual-clock.ts'
import type { Instant } from '../base/time/instant.ts'
import { removeOldEvents } from './janitor.ts'

/** Events of which so many are old. */
function oldEvents(count: number) {
  const limits: number[] = []
  let left = count
  return {
    limits,
    left: () => left,
    async removeOlderThan(before: Instant, limit: number) {
      assert.equal(before, NOON)
      limits.push(limit)
      const removed = Math.min(left, limit)
      left -= removed
      return removed
    },
  }
}

test('old events go in small statements, as many as there are', async () => {
  const events = oldEvents(1_200)
  assert.equal(await removeOldEvents(events, NOON), 1_200)
  assert.equal(events.left(), 0)
  assert.deepEqual(events.limits, [500, 500, 500])
})

test('a round has an end, however many there are: the next one goes on', async () => {
  const events = oldEvents(1_000_000)
  assert.equal(await removeOldEvents(events, NOON), 20_000)
  assert.equal(events.left(), 980_000)
  assert.equal(events.limits.length, 40)
})
