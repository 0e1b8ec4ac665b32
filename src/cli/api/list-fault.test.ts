import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultyPart } from './list-fault.ts'

test('shows the word of the filter that the server complains about', () => {
  const cases: readonly (readonly [filter: string, column: number, part: string | undefined])[] = [
    ['foo = "x"', 1, 'foo'],
    ['name = "a" and tags.b.c = 1', 16, 'tags.b.c'],
    ['name = "a b" or', 8, '"a b"'],
    ['name ? 1', 6, '?'],
    // Columns are counted in characters, not in UTF-16 units.
    ['name = "\u{1f511}" and foo = 1', 16, 'foo'],
    ['x =', 4, undefined],
    ['x', 99, undefined],
  ]
  for (const [filter, column, part] of cases) {
    const reason = `is wrong, at column ${column}`
    assert.equal(faultyPart('filter', reason, { filter }), part, filter)
  }
  assert.equal(faultyPart('filter', 'is too long', { filter: 'foo = 1' }), undefined)
})

test('shows the sort text as a whole', () => {
  assert.equal(faultyPart('sort', 'names no field to sort by', { sort: 'a, b' }), 'a, b')
  assert.equal(faultyPart('sort', 'is wrong', {}), undefined)
  assert.equal(faultyPart('limit', 'is wrong', { sort: 'a' }), undefined)
})
