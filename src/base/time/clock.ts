/** The source of time. Code that depends on time takes a Clock, so that tests can move it. */
import { type Duration, milliseconds } from './duration.ts'
import { type Instant, instant } from './instant.ts'

export interface Clock {
  /** The time of day. It can jump. */
  now(): Instant
  /** The time since some fixed point in the past. It never jumps (R115): for ages and intervals inside a process. */
  uptime(): Duration
}

export const systemClock: Clock = {
  now: () => instant(Date.now()),
  uptime: () => milliseconds(performance.now()),
}
