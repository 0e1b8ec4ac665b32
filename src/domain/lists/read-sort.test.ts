/** The orders of a list, as they are asked for. API 2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListFields } from './list-query.ts'
import { readSort } from './read-sort.ts'

const KNOWN: ListFields = {
  fields: {
    name: { type: 'text' },
    createdAt: { type: 'time' },
    roles: { type: 'text', isList: true },
  },
  hasTags: true,
}

test('a sort is fields with their directions, upwards where none is said', () => {
  assert.deepEqual(readSort('name', KNOWN), [{ field: 'name', direction: 'asc' }])
  assert.deepEqual(readSort(' createdAt  DESC ,name ASC', KNOWN), [
    { field: 'createdAt', direction: 'desc' },
    { field: 'name', direction: 'asc' },
  ])
})

test('up to five fields are sorted by', () => {
  const five = readSort('name,name,name,name,name', KNOWN)
  assert.equal(five.length, 5)
  assert.equal(readSort('name,name,name,name,name,name', KNOWN), 'has more than 5 fields')
})

for (const [text, reason] of [
  ['', 'names no field to sort by'],
  ['name,', 'names no field to sort by'],
  [',name', 'names no field to sort by'],
  ['secret', 'names no field to sort by'],
  ['Name', 'names no field to sort by'],
  ['roles', 'names no field to sort by'],
  ['tags.x', 'names no field to sort by'],
  ['constructor', 'names no field to sort by'],
  ['name up', 'must be asc or desc'],
  ['name asc desc', 'must be fields with asc or desc'],
  ['name;drop', 'names no field to sort by'],
] as const) {
  test(`sort=${text}: ${reason}`, () => {
    assert.equal(readSort(text, KNOWN), reason)
  })
}
