/** Points in time and how they are written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes, seconds } from './duration.ts'
import { earlier, epochSeconds, fromRfc3339, instant, minus, plus, toRfc3339 } from './instant.ts'

// RFC 3339 §5.8 has this moment as an example: 1985-04-12T23:20:50.52Z.
const EXAMPLE = instant(Date.UTC(1985, 3, 12, 23, 20, 50, 520))

test('D-39: a time is written in RFC 3339, in UTC, with three digits of milliseconds', () => {
  assert.equal(toRfc3339(EXAMPLE), '1985-04-12T23:20:50.520Z')
  assert.equal(toRfc3339(instant(0)), '1970-01-01T00:00:00.000Z')
})

test('any moment is written as the platform writes it', () => {
  const latest = 8.64e15
  const far = [0, 1, 999, 59_999, 3_599_999, 86_399_999, 86_400_000, latest].flatMap((at) => [
    at,
    -at,
  ])
  // More days than are kept, at any time of the day.
  const many = Array.from({ length: 3_000 }, (_, n) => Date.UTC(2024, 1, 27) + n * 87_654_321)
  for (const at of [...far, ...many, 1.5, Date.UTC(12_345, 0, 1), Date.UTC(-1, 0, 1)]) {
    assert.equal(toRfc3339(instant(at)), new Date(at).toISOString())
  }
  for (const at of [Number.NaN, Number.POSITIVE_INFINITY, latest + 86_400_000]) {
    assert.throws(() => toRfc3339(instant(at)), RangeError)
  }
})

test('seconds since the epoch are whole, and never later than the moment', () => {
  assert.equal(epochSeconds(instant(1_999)), 1)
  assert.equal(epochSeconds(instant(2_000)), 2)
  assert.equal(epochSeconds(instant(-1)), -1)
})

test('adding and taking away the same duration leads back', () => {
  assert.equal(plus(EXAMPLE, minutes(10)) - EXAMPLE, 600_000)
  assert.equal(minus(plus(EXAMPLE, seconds(7)), seconds(7)), EXAMPLE)
})

test('the earlier of two moments is the smaller one, in either order', () => {
  const later = plus(EXAMPLE, seconds(1))
  assert.equal(earlier(EXAMPLE, later), EXAMPLE)
  assert.equal(earlier(later, EXAMPLE), EXAMPLE)
  assert.equal(earlier(EXAMPLE, EXAMPLE), EXAMPLE)
})

test('a time in RFC 3339 is read, in UTC and at any other offset', () => {
  for (const text of [
    '1985-04-12T23:20:50.52Z',
    '1985-04-12T23:20:50.520Z',
    '1985-04-12T23:20:50.520999999Z',
    '1985-04-13T01:20:50.52+02:00',
    '1985-04-12T15:20:50.52-08:00',
  ]) {
    assert.equal(fromRfc3339(text), EXAMPLE, text)
  }
  assert.equal(fromRfc3339('2024-02-29T00:00:00Z'), Date.UTC(2024, 1, 29))
})

test('what is not a time in RFC 3339 is not read', () => {
  for (const text of [
    '',
    'now',
    '1985-04-12',
    '1985-04-12T23:20:50',
    '1985-04-12 23:20:50Z',
    '1985-04-12T23:20Z',
    '1985-04-12T23:20:50.Z',
    '1985-04-12T23:20:50+0200',
    '1985-04-12T23:20:50+99:99',
    '1985-04-12T24:00:00Z',
    '1985-04-12T23:60:00Z',
    '1985-13-12T23:20:50Z',
    '1985-04-31T23:20:50Z',
    '2026-02-29T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '+001985-04-12T23:20:50Z',
    ' 1985-04-12T23:20:50Z',
    '1985-04-12T23:20:50Z\n',
  ]) {
    assert.equal(fromRfc3339(text), undefined, text)
  }
})
