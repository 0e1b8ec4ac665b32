/** How durations are written and read (D-43); properties are in test/fuzz/durations.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  days,
  formatDuration,
  hours,
  inSeconds,
  milliseconds,
  minutes,
  parseDuration,
  seconds,
} from './duration.ts'

const READ: readonly [string, number][] = [
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['24h', 86_400_000],
  ['1h30m', 5_400_000],
  ['7d', 604_800_000],
  ['1d1h1m1s', 90_061_000],
  ['0', 0],
  ['0s', 0],
  ['0d0s', 0],
  ['-5m', -300_000],
  ['-1h30m', -5_400_000],
  ['007s', 7_000],
]

for (const [text, expected] of READ) {
  test(`${text} is a duration of ${expected} milliseconds`, () => {
    assert.equal(parseDuration(text), expected)
  })
}

test('minus nothing is nothing, without a sign', () => {
  assert.ok(Object.is(parseDuration('-0s'), 0))
})

const REFUSED = [
  '',
  '-',
  '5',
  '00',
  '-0',
  's',
  '1.5h',
  '1h 30m',
  '30m1h',
  '1m1m',
  '1w',
  '10ms',
  '1H',
  '+5m',
  '--5m',
  ' 5m',
  '5m\n',
  '٣m',
  '1e3s',
  `${'9'.repeat(16)}s`,
  `${'9'.repeat(400)}d`,
]

for (const text of REFUSED) {
  test(`${JSON.stringify(text).slice(0, 30)} is not a duration`, () => {
    assert.equal(parseDuration(text), undefined)
  })
}

const WRITTEN: readonly [number, string][] = [
  [0, '0s'],
  [999, '0s'],
  [1_000, '1s'],
  [60_000, '1m'],
  [90_000, '1m30s'],
  [5_400_000, '1h30m'],
  [86_400_000, '1d'],
  [90_061_000, '1d1h1m1s'],
  [-90_000, '-1m30s'],
  [-999, '0s'],
]

for (const [count, text] of WRITTEN) {
  test(`${count} milliseconds are written ${text}`, () => {
    assert.equal(formatDuration(milliseconds(count)), text)
  })
}

test('every unit counts in the one below it', () => {
  assert.equal(seconds(2), milliseconds(2_000))
  assert.equal(minutes(2), seconds(120))
  assert.equal(hours(2), minutes(120))
  assert.equal(days(2), hours(48))
  assert.equal(inSeconds(minutes(10)), 600)
})
