/** How many workers there are: D-288. */
import { availableParallelism } from 'node:os'
import type { Config } from '../../config/config.ts'

/** `auto` takes this many at most: more would use memory that the operator did not ask for. */
const MOST_BY_DEFAULT = 8

/** How many processes answer requests. */
export function workersOf({ workers }: Pick<Config, 'workers'>): number {
  return workers === 'auto' ? Math.min(availableParallelism(), MOST_BY_DEFAULT) : workers
}
