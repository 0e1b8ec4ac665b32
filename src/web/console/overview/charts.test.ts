/** The charts of the overview: their scale, and what they say without a picture. D-371. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instant } from '../../../base/time/instant.ts'
import { niceTop } from './chart-frame.ts'
import { sessionChart } from './session-chart.ts'
import { signInChart } from './sign-in-chart.ts'

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

test('live sessions are a line with gaps where nothing was counted', () => {
  const quarter = 900_000
  const text = String(
    sessionChart({
      id: 'live',
      title: 'Last 24 hours',
      by: 'hours',
      step: quarter,
      length: 6 * quarter,
      points: [0, 1, 5, 6].map((n) => ({ from: instant(n * quarter), sessions: n * 10 })),
    }),
  )
  assert.match(text, /<title id="live-title">Last 24 hours: highest 60, latest 60\.<\/title>/)
  assert.match(text, /01:15: 50 sessions</)
  // Two lines: 00:00 to 00:15, and 01:15 to 01:30.
  assert.equal(text.match(/<path class="line"/g)?.length, 2)
  assert.match(text, /1970-01-01 01:30/)
  assert.doesNotMatch(text, /style=|NaN|undefined/)
})

test('a single count is shown as a point', () => {
  const points = [{ from: instant(0), sessions: 1 }]
  const text = String(sessionChart({ id: 'a', title: 'A', by: 'days', step: 1, length: 1, points }))
  assert.match(text, /<circle class="point"/)
  assert.doesNotMatch(text, /<path|NaN/)
})

test('a chart of 24 hours has the line of a young service at its right end, and labels for all hours', () => {
  const quarter = 900_000
  const day = 96 * quarter
  // 20:30 and 20:45 of the second day.
  const points = [day + 82 * quarter, day + 83 * quarter].map((at) => ({
    from: instant(at),
    sessions: 4,
  }))
  const text = String(
    sessionChart({ id: 'a', title: 'A', by: 'hours', step: quarter, length: day, points }),
  )
  // The plot is 648 wide and begins at 64. The line is in the last 96th of it, at the top.
  assert.match(text, /<path class="line" d="M705\.3 16L712 16"/)
  const labels = [...text.matchAll(/text-anchor="middle">([^<]+)</g)].map(([, label]) => label)
  assert.deepEqual(labels, ['00:00', '04:00', '08:00', '12:00', '16:00', '20:00'])
})
