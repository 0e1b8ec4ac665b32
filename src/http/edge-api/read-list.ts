/** Reads `limit`, `offset`, `sort` and `filter` of a list from the query. API 2; filter language: domain/lists. */
import type { FormFields } from '../../base/form.ts'
import { LARGEST_PAGE } from '../../contract/lists.ts'
import { FilterFault } from '../../domain/lists/filter-tokens.ts'
import type { ListFields, ListQuery, Order } from '../../domain/lists/list-query.ts'
import { type ReadFilter, readFilter } from '../../domain/lists/read-filter.ts'
import { readSort } from '../../domain/lists/read-sort.ts'
import { Failure } from '../../errors/catalogue.ts'

const DEFAULT_LIMIT = 10

/** The order and page in the filter apply only if the query does not set them. */
export function readList(query: FormFields, known: ListFields): ListQuery {
  const carried = filterOf(query, known)
  const limit = countOf(query, 'limit', 1) ?? carried?.limit ?? DEFAULT_LIMIT
  const offset = countOf(query, 'offset', 0) ?? carried?.skip ?? 0
  // An offset beyond the safe integers is not exact, and no database counts that far.
  if (!Number.isSafeInteger(offset)) {
    throw invalidPage('offset', `must be at most ${Number.MAX_SAFE_INTEGER}`)
  }
  return {
    limit: Math.min(limit, LARGEST_PAGE),
    offset,
    orders: ordersOf(query, known) ?? carried?.orders,
    filter: carried?.filter,
  }
}

function filterOf(query: FormFields, known: ListFields): ReadFilter | undefined {
  const text = single(query, 'filter', 'INVALID_FILTER')
  try {
    return text === undefined ? undefined : readFilter(text, known)
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error
    const reason = `${error.message}, at column ${error.column}`
    throw new Failure('INVALID_FILTER', { field: { field: 'filter', reason } })
  }
}

function ordersOf(query: FormFields, known: ListFields): readonly Order[] | undefined {
  const text = single(query, 'sort', 'INVALID_SORT_IDENTIFIER')
  const orders = text === undefined ? undefined : readSort(text, known)
  if (typeof orders !== 'string') return orders
  throw new Failure('INVALID_SORT_IDENTIFIER', { field: { field: 'sort', reason: orders } })
}

function single(
  query: FormFields,
  name: string,
  code: 'INVALID_FILTER' | 'INVALID_SORT_IDENTIFIER',
): string | undefined {
  const [text, ...others] = query.get(name) ?? []
  if (others.length === 0) return text
  throw new Failure(code, { field: { field: name, reason: 'is repeated' } })
}

function countOf(query: FormFields, name: string, least: 0 | 1): number | undefined {
  const [text, ...others] = query.get(name) ?? []
  if (text === undefined) return undefined
  if (others.length > 0) throw invalidPage(name, 'is repeated')
  if (!/^[0-9]+$/.test(text) || Number(text) < least) {
    throw invalidPage(name, `must be a whole number of at least ${least}`)
  }
  return Number(text)
}

function invalidPage(field: string, reason: string): Failure {
  return new Failure('INVALID_PAGINATION', { field: { field, reason } })
}
