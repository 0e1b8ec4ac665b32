/** How filters are read: what they mean, and what is refused where. API 2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instant } from '../../base/time/instant.ts'
import { FilterFault } from './filter-tokens.ts'
import type { FieldReference, Filter, ListFields } from './list-query.ts'
import { readFilter } from './read-filter.ts'

const KNOWN: ListFields = {
  fields: {
    name: { type: 'text' },
    size: { type: 'number' },
    isOpen: { type: 'boolean' },
    createdAt: { type: 'time' },
    roles: { type: 'text', isList: true },
  },
  hasTags: true,
}

const field = (name: string, kind: FieldReference['kind'] = 'field'): FieldReference => ({
  kind,
  name,
})
const is = (name: string, value: string | number | boolean): Filter => ({
  op: 'compare',
  field: field(name),
  comparator: '=',
  value,
})
const not = (part: Filter): Filter => ({ op: 'not', part })
const TRUE: Filter = { op: 'and', parts: [] }
const FALSE: Filter = { op: 'or', parts: [] }
const NOON = instant(Date.UTC(2026, 0, 31, 12))

for (const [text, filter] of [
  ['name = "a"', is('name', 'a')],
  ['name="a"', is('name', 'a')],
  ['size = -1.5', is('size', -1.5)],
  ['isOpen = TRUE', is('isOpen', true)],
  ['name != "a"', not(is('name', 'a'))],
  ['name = null', { op: 'null', field: field('name') }],
  ['name != Null', not({ op: 'null', field: field('name') })],
  ['size <= 3', { op: 'compare', field: field('size'), comparator: '<=', value: 3 }],
  [
    'createdAt > datetime("2026-01-31T12:00:00Z")',
    { op: 'compare', field: field('createdAt'), comparator: '>', value: NOON },
  ],
  ...[
    'datetime(2026-01-31T12:00:00Z)',
    'DateTime ( 2026-01-31T12:00:00.000Z )',
    'datetime(2026-01-31T14:30:00+02:30)',
    'datetime(2026-01-31T09:00:00.000-03:00)',
  ].map(
    (time) =>
      [
        `createdAt > ${time}`,
        { op: 'compare', field: field('createdAt'), comparator: '>', value: NOON },
      ] as const,
  ),
  [
    'createdAt in [datetime(2026-01-31T12:00:00Z),datetime("2026-01-31T12:00:00Z")]',
    { op: 'in', field: field('createdAt'), values: [NOON, NOON] },
  ],
  [
    'createdAt between datetime(2026-01-31T12:00:00Z) and datetime(2026-01-31T12:00:00Z)',
    { op: 'between', field: field('createdAt'), from: NOON, to: NOON },
  ],
  [
    'createdAt > DateTime ( "2026-01-31T14:30:00.000+02:30" )',
    { op: 'compare', field: field('createdAt'), comparator: '>', value: NOON },
  ],
  ['name contains "a"', { op: 'contains', field: field('name'), text: 'a', ignoresCase: false }],
  ['name iContains ""', { op: 'contains', field: field('name'), text: '', ignoresCase: true }],
  ['size in [1, 2]', { op: 'in', field: field('size'), values: [1, 2] }],
  ['size not in [1]', not({ op: 'in', field: field('size'), values: [1] })],
  ['size between 1 and 2', { op: 'between', field: field('size'), from: 1, to: 2 }],
  ['size not between 1 and 2', not({ op: 'between', field: field('size'), from: 1, to: 2 })],
  [
    'anyOf(roles) = "a"',
    { op: 'compare', field: field('roles', 'list'), comparator: '=', value: 'a' },
  ],
  ['anyof ( roles ) = null', { op: 'null', field: field('roles', 'list') }],
  ['tags.x = 1', { op: 'compare', field: field('x', 'tag'), comparator: '=', value: 1 }],
  [
    'tags.a.b-c in [1, "x", true]',
    { op: 'in', field: field('a.b-c', 'tag'), values: [1, 'x', true] },
  ],
  ['true', TRUE],
  ['not true', not(TRUE)],
  ['false or name = "a"', { op: 'or', parts: [FALSE, is('name', 'a')] }],
  [
    'size = 1 or size = 2 and not size = 3',
    {
      op: 'or',
      parts: [is('size', 1), { op: 'and', parts: [is('size', 2), not(is('size', 3))] }],
    },
  ],
  [
    '(size = 1 or size = 2) AND size = 3',
    {
      op: 'and',
      parts: [{ op: 'or', parts: [is('size', 1), is('size', 2)] }, is('size', 3)],
    },
  ],
  [
    'size between 1 and 2 and size = 3',
    {
      op: 'and',
      parts: [{ op: 'between', field: field('size'), from: 1, to: 2 }, is('size', 3)],
    },
  ],
] as const satisfies readonly (readonly [string, Filter])[]) {
  test(`${text} is read as it is meant`, () => {
    assert.deepEqual(readFilter(text, KNOWN), {
      filter,
      orders: undefined,
      skip: undefined,
      limit: undefined,
    })
  })
}

test('a text that nothing can have is passed by nothing', () => {
  // Attack: NUL and halves of surrogate pairs make databases throw, or find the row of another text.
  for (const text of [
    'name = "\0"',
    'name < "\ud800"',
    'name contains "\udc00"',
    'name icontains "a\0"',
    'name between "a" and "\0"',
    'tags.x = "\0"',
    'anyOf(roles) = "\0"',
  ]) {
    assert.deepEqual(readFilter(text, KNOWN).filter, FALSE)
  }
  assert.deepEqual(readFilter('name != "\0"', KNOWN).filter, not(FALSE))
  const some = readFilter('name in ["\0", "a", "\ud800"]', KNOWN).filter
  assert.deepEqual(some, { op: 'in', field: field('name'), values: ['a'] })
})

test('a filter carries its own order and page', () => {
  const name = { field: 'name', direction: 'asc' }
  for (const [text, expected] of [
    ['', {}],
    ['sort by name', { orders: [name] }],
    [
      'true SORT BY size desc, name asc SKIP 5 LIMIT 7',
      { filter: TRUE, orders: [{ field: 'size', direction: 'desc' }, name], skip: 5, limit: 7 },
    ],
    ['skip 0', { skip: 0 }],
    ['size = 1 limit 3', { filter: is('size', 1), limit: 3 }],
    ['limit none', { limit: Number.POSITIVE_INFINITY }],
  ] as const) {
    const nothing = { filter: undefined, orders: undefined, skip: undefined, limit: undefined }
    assert.deepEqual(readFilter(text, KNOWN), { ...nothing, ...expected })
  }
})

const deep = (levels: number) => `${'('.repeat(levels)}size = 1${')'.repeat(levels)}`
const many = (comparisons: number) => Array(comparisons).fill('size = 1').join(' or ')
const values = (count: number) => `size in [${Array(count).fill('1').join(',')}]`

for (const [text, column, reason] of [
  ['secret = "a"', 1, 'is not a field that can be filtered by'],
  ['constructor = "a"', 1, 'is not a field that can be filtered by'],
  ['__proto__ = "a"', 1, 'is not a field that can be filtered by'],
  ['Name = "a"', 1, 'is not a field that can be filtered by'],
  ['name.x = "a"', 1, 'is not a field that can be filtered by'],
  ['tags = "a"', 1, 'is not a field that can be filtered by'],
  ['size = 1 and secret = 2', 14, 'is not a field that can be filtered by'],
  ['roles = "a"', 1, 'is a list: write anyOf(…) around it'],
  ['anyOf(name) = "a"', 7, 'anyOf needs a field that is a list'],
  ['anyOf(tags.x) = "a"', 7, 'anyOf needs a field that is a list'],
  ['anyOf(toString) = "a"', 7, 'anyOf needs a field that is a list'],
  ['anyOf roles = "a"', 7, '"(" is missing'],
  ['anyOf(roles = "a"', 13, '")" is missing'],
  ['"a" = name', 1, 'a field is missing'],
  ['(', 2, 'a field is missing'],
  ['size = 1 and', 13, 'a field is missing'],
  ['name', 5, 'a comparison is missing'],
  ['name "a"', 6, 'a comparison is missing'],
  ['name not = "a"', 10, 'a comparison is missing'],
  ['name like "a"', 6, 'a comparison is missing'],
  ['name ( "a"', 6, 'a comparison is missing'],
  ['name = ', 8, 'a value is missing'],
  ['name = size', 8, 'a value is missing'],
  ['name = 1', 8, 'must be a text in quotes'],
  ['size = "1"', 8, 'must be a number'],
  ['isOpen = 1', 10, 'must be true or false'],
  ['createdAt = 1', 13, 'must be a time like datetime("2026-01-31T12:00:00Z")'],
  ['createdAt = datetime("yesterday")', 22, 'must be a time like datetime("2026-01-31T12:00:00Z")'],
  ['createdAt = datetime(5)', 22, 'must be a time like datetime("2026-01-31T12:00:00Z")'],
  ...[
    '2026-01-31',
    '2026-01-31T',
    '2026-01-31T12:00',
    '2026-01-31T12:00:00',
    '2026-01-31t12:00:00z',
    '2026-01-31T12:00:00Zz',
    '2026-02-30T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:00:00+99:00',
    '02026-01-31T12:00:00Z',
    'now',
    'true',
    ')',
  ].map(
    (time) =>
      [
        `createdAt = datetime(${time})`,
        22,
        'must be a time like datetime("2026-01-31T12:00:00Z")',
      ] as const,
  ),
  ['createdAt > 2026-01-31T12:00:00Z', 13, 'must be a time like datetime("2026-01-31T12:00:00Z")'],
  ['name = 2026-01-31T12:00:00Z', 8, 'must be a text in quotes'],
  ['size = 2026-01-31T12:00:00Z', 8, 'must be a number'],
  ['2026-01-31T12:00:00Z = createdAt', 1, 'a field is missing'],
  ['createdAt = datetime(2026-01-31T12:00:00Z', 42, '")" is missing'],
  // A + that was not escaped in the URL becomes a space.
  ['createdAt = datetime(2026-01-31T12:00:00 02:00)', 44, 'is not understood'],
  ['createdAt = datetime(2026-01-31T12:00:00Z 5)', 43, '")" is missing'],
  ['createdAt = datetime(2026-01-31T12:00:00Z"a")', 42, '")" is missing'],
  ['createdAt = datetime "a"', 22, '"(" is missing'],
  ['createdAt = datetime("2026-01-31T12:00:00Z"', 44, '")" is missing'],
  [
    'tags.x = datetime("2026-01-31T12:00:00Z")',
    10,
    'must be a text in quotes, a number, true or false',
  ],
  ['isOpen > true', 10, 'true and false have no order'],
  ['tags.x < false', 10, 'true and false have no order'],
  ['isOpen between true and false', 16, 'true and false have no order'],
  ['name < null', 8, 'null cannot be compared with < or >'],
  ['size in 1', 9, '"[" is missing'],
  ['size in []', 10, 'a value is missing'],
  ['size in [1, ]', 13, 'a value is missing'],
  ['size in [1 2]', 12, '"]" is missing'],
  ['name in ["a", 1]', 15, 'must be a text in quotes'],
  ['size between 1 or 2', 16, '"and" is missing'],
  ['size contains "1"', 6, 'contains needs a text field'],
  ['name contains 1', 15, 'must be a text in quotes'],
  [`name contains "${'a'.repeat(257)}"`, 15, 'has more than 256 characters'],
  [`name icontains "${'a'.repeat(257)}"`, 16, 'has more than 256 characters'],
  ['(size = 1', 10, '")" is missing'],
  ['size = 1)', 9, 'is not understood'],
  ['size = 1 size = 2', 10, 'is not understood'],
  ['true limit 1 skip 2', 14, 'is not understood'],
  ['limit 1 sort by name', 9, 'is not understood'],
  ['sort name', 6, '"by" is missing'],
  ['sort by', 8, 'names no field to sort by'],
  ['sort by secret', 9, 'names no field to sort by'],
  ['sort by roles', 9, 'names no field to sort by'],
  ['sort by tags.x', 9, 'names no field to sort by'],
  ['sort by name, name, name, name, name, name', 39, 'has more than 5 fields'],
  ['sort by name sideways', 14, 'is not understood'],
  ['limit', 6, 'a whole number of at least 1 is missing'],
  ['limit 0', 7, 'a whole number of at least 1 is missing'],
  ['limit -1', 7, 'a whole number of at least 1 is missing'],
  ['limit 1.5', 7, 'a whole number of at least 1 is missing'],
  ['skip none', 6, 'a whole number of at least 0 is missing'],
  ['skip 99999999999999999999', 6, 'a whole number of at least 0 is missing'],
  [deep(33), 34, 'is nested too deeply'],
  [`${'not '.repeat(33)}true`, 133, 'is nested too deeply'],
  [many(65), 769, 'has more than 64 comparisons'],
  [values(101), 210, 'has more than 100 values'],
  [`name = "${'a'.repeat(4096)}"`, 4097, 'is longer than 4096 characters'],
] as const) {
  test(`${text.slice(0, 40)}: ${reason}, at column ${column}`, () => {
    assert.throws(
      () => readFilter(text, KNOWN),
      (error) => {
        assert.ok(error instanceof FilterFault)
        assert.deepEqual([error.message, error.column], [reason, column])
        return true
      },
    )
  })
}

test('what is just within the bounds is read', () => {
  for (const text of [deep(32), `${'not '.repeat(32)}true`, many(64), values(100)]) {
    assert.notEqual(readFilter(text, KNOWN).filter, undefined)
  }
  const longest = `name = "${'a'.repeat(4096 - 'name = ""'.length)}"`
  assert.notEqual(readFilter(longest, KNOWN).filter, undefined)
})

test('tags are asked for only where there are some', () => {
  const known = { ...KNOWN, hasTags: false }
  assert.throws(() => readFilter('tags.x = 1', known), /is not a field that can be filtered by/)
})
