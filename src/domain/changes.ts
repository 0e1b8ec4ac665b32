/** What of an entity a write makes another: for the audit log, and for what follows from it. API 1. */
import { isDeepStrictEqual } from 'node:util'

/**
 * The names of the fields of `next` whose values differ. What an entity is kept by (its id and its times) is left out by
 * whoever hands `next` in.
 */
export function changedFields<T extends object>(
  current: T,
  next: Partial<T>,
): readonly (keyof T & string)[] {
  const names = Object.keys(next) as (keyof T & string)[]
  return names.filter((name) => !isDeepStrictEqual(current[name], next[name]))
}
