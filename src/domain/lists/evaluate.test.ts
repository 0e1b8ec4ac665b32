/** Short lists in memory: what is found, in which order, which part. API 2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instant } from '../../base/time/instant.ts'
import { listInMemory } from './evaluate.ts'
import type { ListFields, ListQuery } from './list-query.ts'
import { readFilter } from './read-filter.ts'
import { readSort } from './read-sort.ts'

const KNOWN: ListFields = {
  fields: {
    id: { type: 'text' },
    name: { type: 'text' },
    isOpen: { type: 'boolean' },
    createdAt: { type: 'time' },
    alias: { type: 'text' },
    roles: { type: 'text', isList: true },
  },
  hasTags: true,
}

const ROWS = [
  {
    id: '1',
    name: 'b',
    isOpen: true,
    createdAt: instant(2_000),
    alias: undefined,
    roles: ['x', 'y'],
    tags: { floor: 3, note: 'Ä', up: true, none: null },
  },
  {
    id: '2',
    name: 'ﬀ',
    isOpen: false,
    createdAt: instant(1_000),
    alias: 'q',
    roles: [],
    tags: { floor: '3', up: false },
  },
  {
    id: '3',
    name: '😀',
    isOpen: false,
    createdAt: instant(1_000),
    alias: undefined,
    roles: ['y'],
    tags: {},
  },
]

const find = (query: Partial<ListQuery>) => {
  const { rows, totalCount } = listInMemory(ROWS, { limit: 10, offset: 0, ...query })
  return { ids: rows.map(({ id }) => id).join(''), totalCount }
}

for (const [text, ids] of [
  ['true', '123'],
  ['false', ''],
  ['name = "b"', '1'],
  ['name != "b"', '23'],
  ['isOpen = false', '23'],
  ['createdAt > datetime("1970-01-01T00:00:01Z")', '1'],
  ['createdAt >= datetime("1970-01-01T00:00:01Z")', '123'],
  ['createdAt < datetime("1970-01-01T00:00:02Z")', '23'],
  ['createdAt <= datetime("1970-01-01T00:00:00.999Z")', ''],
  ['alias = null', '13'],
  ['alias != null', '2'],
  ['alias = "q"', '2'],
  ['alias != "q"', '13'],
  ['alias > ""', '2'],
  ['not alias > ""', '13'],
  // By code point: 😀 is beyond 16 bits, ﬀ is within.
  ['name > "ﬀ"', '3'],
  ['name between "a" and "c"', '1'],
  ['name in ["b", "😀"]', '13'],
  ['anyOf(roles) = "y"', '13'],
  ['anyOf(roles) != "y"', '2'],
  ['anyOf(roles) = "x" and anyOf(roles) = "y"', '1'],
  ['anyOf(roles) = null', '2'],
  ['anyOf(roles) between "w" and "x"', '1'],
  ['anyOf(roles) icontains "Y"', '13'],
  ['tags.floor = 3', '1'],
  ['tags.floor = "3"', '2'],
  ['tags.floor in [3, "3"]', '12'],
  ['tags.floor >= 3', '1'],
  ['tags.floor != 3', '23'],
  ['tags.up = true', '1'],
  ['tags.none = null', '123'],
  ['tags.toString = null', '123'],
  ['tags.note contains "ä"', ''],
  ['tags.note icontains "ä"', '1'],
  ['tags.floor contains "3"', '2'],
  ['name icontains ""', '123'],
  ['name icontains "bb"', ''],
  ['name = "b" or id = "3"', '13'],
  ['isOpen = false and not id = "3"', '2'],
] as const) {
  test(`${text} finds ${ids || 'nothing'}`, () => {
    const { filter } = readFilter(text, KNOWN)
    assert.deepEqual(find({ filter }), { ids, totalCount: ids.length })
  })
}

for (const [sort, ids] of [
  ['name', '123'],
  ['name desc', '321'],
  ['createdAt', '231'],
  // The id goes the way of the last order.
  ['createdAt desc', '132'],
  ['isOpen, name desc', '321'],
  // What has no value comes last, and first the other way.
  ['alias', '213'],
  ['alias desc', '312'],
] as const) {
  test(`sorted by ${sort} they are ${ids}`, () => {
    const orders = readSort(sort, KNOWN)
    assert.ok(typeof orders !== 'string')
    assert.equal(find({ orders }).ids, ids)
  })
}

test('without an order rows keep theirs, and a page is a part of what was found', () => {
  const { filter } = readFilter('id != "1"', KNOWN)
  assert.deepEqual(find({}), { ids: '123', totalCount: 3 })
  assert.deepEqual(find({ filter, limit: 1 }), { ids: '2', totalCount: 2 })
  assert.deepEqual(find({ filter, offset: 1 }), { ids: '3', totalCount: 2 })
  assert.deepEqual(find({ filter, offset: 5 }), { ids: '', totalCount: 2 })
})
