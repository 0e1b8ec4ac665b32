import assert from 'node:assert/strict'
import { test } from 'node:test'
import { distance } from './distance.ts'

test('the distance counts letters that are added, removed, replaced or swapped', () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['abc', 'abc', 0],
    ['abc', 'abd', 1],
    ['abc', 'acb', 1],
    ['abc', 'bc', 1],
    ['kitten', 'sitting', 3],
  ]
  for (const [from, to, steps] of cases) assert.equal(distance(from, to), steps, `${from} ${to}`)
})
