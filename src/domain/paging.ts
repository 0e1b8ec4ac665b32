/** A list in pages, and many rows in batches. API 2. */
export interface Page {
  readonly limit: number
  readonly offset: number
}

export interface PageOf<T> {
  readonly rows: readonly T[]
  readonly totalCount: number
}

/**
 * How many rows one statement or transaction handles where there may be any number, so that other writers get their turn
 * in between.
 */
export const BATCH_ROWS = 500
