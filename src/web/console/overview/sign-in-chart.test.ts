/** The chart of sign-ins: its scale, and what it says without a picture. D-371. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instant } from '../../../base/time/instant.ts'
import { niceTop, signInChart } from './sign-in-chart.ts'

test('the scale ends at a round number that the grid divides into whole numbers', () => {
  for (const highest of [0, 1, 4, 5, 7, 13, 99, 100, 101, 999, 12_345, 1_000_000]) {
    const top = niceTop(highest)
    assert.ok(top >= highest, `${top} for ${highest}`)
    assert.ok(Number.isInteger(top / 4), `${top} for ${highest}`)
    assert.ok(top <= Math.max(4, highest * 2.5), `${top} for ${highest}`)
  }
})

test('says in words and in a table what the picture shows', () => {
  const text = String(
    signInChart({
      id: 'day',
      title: 'Last 24 hours',
      by: 'hours',
      intervals: [
        { from: instant(0), succeeded: 3, failed: 1, locked: 0 },
        { from: instant(3_600_000), succeeded: 0, failed: 0, locked: 0 },
      ],
    }),
  )
  assert.match(text, /<title id="day-title">Last 24 hours: 3 sign-ins, 1 failure\.<\/title>/)
  assert.match(text, /00:00: 3 sign-ins, 1 failure</)
  assert.match(text, /1970-01-01 00:00/)
  assert.doesNotMatch(text, /style=|NaN|undefined/)
})
