import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restartPause } from './pool.ts'

test('D-292: the first replacement starts at once, later ones wait twice as long each time, up to 30 seconds', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 9, 10, 11, 100, 2_000].map(restartPause),
    [0, 100, 200, 400, 12_800, 25_600, 30_000, 30_000, 30_000],
  )
})
