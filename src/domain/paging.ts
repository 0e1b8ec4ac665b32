/** One page of a list, and how much there is in all. API 2. */
export interface Page {
  readonly limit: number
  readonly offset: number
}

export interface PageOf<T> {
  readonly rows: readonly T[]
  readonly totalCount: number
}
