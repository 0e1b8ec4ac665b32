/** Which fields of an entity a write changes: for the audit log, and for what follows from it. API 1. */
import { isDeepStrictEqual } from 'node:util'

/**
 * Returns the names of the fields of `next` whose values differ. The caller leaves out bookkeeping fields (id and
 * times).
 */
export function changedFields<T extends object>(
  current: T,
  next: Partial<T>,
): readonly (keyof T & string)[] {
  const names = Object.keys(next) as (keyof T & string)[]
  return names.filter((name) => !isDeepStrictEqual(current[name], next[name]))
}
