/** Reads where a list begins, and the texts that it is filtered by. */
import type { Page } from '../../domain/paging.ts'
import type { SiteCall } from '../own-site/site-routes.ts'

/** Fits on two screens, and its forms stay small. */
const PAGE_ROWS = 50

/** The furthest row that a page may begin at. */
const FURTHEST = 1_000_000

/** Anything that is not a number of a row means the first page. */
export function pageOf({ head }: Pick<SiteCall, 'head'>): Page {
  const offset = Number(queryText({ head }, 'offset'))
  const isRow = Number.isSafeInteger(offset) && offset >= 0 && offset <= FURTHEST
  return { limit: PAGE_ROWS, offset: isRow ? offset : 0 }
}

/** The longest text of a filter. */
const LONGEST = 256

/** Returns the first value of a parameter, trimmed; empty if it is missing or too long. */
export function queryText({ head: { query } }: Pick<SiteCall, 'head'>, name: string): string {
  const value = query.get(name)?.[0]?.trim() ?? ''
  return value.length > LONGEST ? '' : value
}
