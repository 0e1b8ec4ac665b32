/**
 * Filters, sorts and pages a short list in memory, exactly as the store does with a long one (API 2). A field is the
 * member of that name, a tag is a member of `tags`. Which of them are allowed was checked when the filter was parsed.
 */
import type { PageOf } from '../paging.ts'
import { lettersOf } from './letters.ts'
import type { FieldReference, Filter, FilterValue, ListQuery, Order, Test } from './list-query.ts'

/** Without orders the rows keep their order. */
export function listInMemory<Row extends { readonly id: string }>(
  all: readonly Row[],
  query: ListQuery,
): PageOf<Row> {
  const { filter, orders = [], limit, offset } = query
  const found = filter === undefined ? all : all.filter((row) => passes(row, filter))
  const sorted = orders.length === 0 ? found : found.toSorted(inOrder(orders))
  return { rows: sorted.slice(offset, offset + limit), totalCount: found.length }
}

function passes(row: object, filter: Filter): boolean {
  switch (filter.op) {
    case 'and':
      return filter.parts.every((part) => passes(row, part))
    case 'or':
      return filter.parts.some((part) => passes(row, part))
    case 'not':
      return !passes(row, filter.part)
    case 'null':
      return valuesOf(row, filter.field).length === 0
    default:
      return valuesOf(row, filter.field).some((value) => holds(filter, value))
  }
}

function valuesOf(row: object, { kind, name }: FieldReference): readonly FilterValue[] {
  const from = kind === 'tag' ? memberOf(row, 'tags') : row
  const value = typeof from === 'object' && from !== null ? memberOf(from, name) : undefined
  if (value === undefined || value === null) return []
  return kind === 'list' ? (value as readonly FilterValue[]) : [value as FilterValue]
}

function memberOf(from: object, name: string): unknown {
  return Object.hasOwn(from, name) ? (from as Record<string, unknown>)[name] : undefined
}

function holds(test: Test, value: FilterValue): boolean {
  switch (test.op) {
    case 'in':
      return test.values.includes(value)
    case 'between':
      return (
        holds({ op: 'compare', comparator: '>=', value: test.from }, value) &&
        holds({ op: 'compare', comparator: '<=', value: test.to }, value)
      )
    case 'contains':
      return typeof value === 'string' && contains(value, test)
    case 'compare': {
      if (typeof value !== typeof test.value) return false
      const order = compare(value, test.value)
      switch (test.comparator) {
        case '=':
          return order === 0
        case '<':
          return order < 0
        case '<=':
          return order <= 0
        case '>':
          return order > 0
        case '>=':
          return order >= 0
      }
    }
  }
}

function contains(value: string, test: Test & { readonly op: 'contains' }): boolean {
  if (!test.ignoresCase) return value.includes(test.text)
  const letters = [...value]
  const wanted = lettersOf(test.text)
  return (
    letters.some((_, at) => wanted.every((forms, i) => forms.includes(letters[at + i] ?? ''))) ||
    wanted.length === 0
  )
}

function inOrder(orders: readonly Order[]): (a: object, b: object) => number {
  const { direction } = orders.at(-1) as Order
  const all: readonly Order[] = [...orders, { field: 'id', direction }]
  return (a, b) => {
    for (const { field, direction } of all) {
      const order = compareFound(memberOf(a, field), memberOf(b, field))
      if (order !== 0) return direction === 'asc' ? order : -order
    }
    return 0
  }
}

/** Missing values come last. */
function compareFound(a: unknown, b: unknown): number {
  const [isA, isB] = [a !== undefined, b !== undefined]
  return isA && isB ? compare(a as FilterValue, b as FilterValue) : Number(isB) - Number(isA)
}

function compare(a: FilterValue, b: FilterValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  return Number(a) - Number(b)
}

/** By code point, as the databases do. JavaScript compares UTF-16 units, where 😀 comes before ﬀ. */
function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
