import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

test('returns what was set, and nothing after it was deleted', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1)
  assert.equal(map.get('a'), 1)
  map.set('a', 2)
  assert.equal(map.get('a'), 2)
  assert.equal(map.size, 1)
  map.delete('a')
  assert.equal(map.get('a'), undefined)
})

test('never holds more than its maximum, and drops the entry that was not used for the longest time', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.get('a')
  map.set('c', 3)
  assert.equal(map.size, 2)
  assert.equal(map.get('b'), undefined)
  assert.equal(map.get('a'), 1)
  assert.equal(map.get('c'), 3)
})
