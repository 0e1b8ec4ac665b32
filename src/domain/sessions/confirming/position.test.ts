/** Which endings a copy contains, exactly: D-381. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  covers,
  fewRanges,
  positionOf,
  rangesOf,
  readPosition,
  readRanges,
  writePosition,
} from './position.ts'

test('a number that has not been seen is missing, also below one that has', () => {
  const position = positionOf(10, [11, 12, 15, 20])
  assert.deepEqual(position, {
    upTo: 20,
    missing: [
      [13, 14],
      [16, 19],
    ],
  })
  for (const one of [1, 10, 11, 12, 15, 20]) assert.ok(covers(position, [[one, one]]), `${one}`)
  for (const one of [13, 14, 16, 19, 21]) assert.ok(!covers(position, [[one, one]]), `${one}`)
  assert.ok(
    covers(position, [
      [1, 12],
      [15, 15],
    ]),
  )
  assert.ok(!covers(position, [[1, 15]]))
})

test('a position stays small, and then claims less, never more', () => {
  const seen = Array.from({ length: 100 }, (_, i) => i * 3 + 1)
  const position = positionOf(0, seen)
  assert.ok(position.missing.length <= 16)
  for (let one = 1; one <= 300; one++) {
    if (covers(position, [[one, one]])) assert.ok(seen.includes(one), `${one}`)
  }
  assert.ok(covers(position, [[298, 298]]))
  const wanted = rangesOf(seen)
  const few = fewRanges(wanted)
  assert.ok(few.length <= 16)
  const isIn = (one: number) => few.some(([first, last]) => first <= one && one <= last)
  assert.ok(seen.every(isIn))
})

test('a position is read as it was written, and nothing else is read', () => {
  for (const position of [positionOf(0, []), positionOf(7, []), positionOf(7, [9, 12, 20])]) {
    assert.deepEqual(readPosition(writePosition(position)), position)
  }
  assert.equal(writePosition(positionOf(7, [9, 12, 20])), '20!8,10-11,13-19')
  for (const text of ['', '-1', 'x', '1!', '1!2-', '1!5-2', '1!2!3', '1e9', '9'.repeat(16)]) {
    assert.equal(readPosition(text), undefined, text)
  }
  assert.equal(readRanges(Array.from({ length: 17 }, (_, i) => i * 2).join(',')), undefined)
})
