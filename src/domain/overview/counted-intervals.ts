/** Intervals that were counted and are over: D-369. */
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import type { Instant } from '../../base/time/instant.ts'

export interface Interval {
  readonly from: Instant
  readonly to: Instant
  readonly succeeded: number
  readonly failed: number
  readonly locked: number
}

export type CountedIntervals = Pick<BoundedMap<string, Interval>, 'get' | 'set'>

/** Enough for both periods, and for the hours in which an overview stays open. */
export function createCountedIntervals(): CountedIntervals {
  return new BoundedMap(500)
}
