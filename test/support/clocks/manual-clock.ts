/**
 * A clock that stands still at a chosen moment and moves by hand, the time of day and the uptime alike: for code that
 * decides by intervals. Where certificates meet real TLS, use the TestClock.
 */
import type { Clock } from '../../../src/base/time/clock.ts'
import { type Duration, milliseconds } from '../../../src/base/time/duration.ts'
import { type Instant, instant, plus } from '../../../src/base/time/instant.ts'

export const NOON = instant(Date.UTC(2030, 0, 1, 12))

export class ManualClock implements Clock {
  #passed = milliseconds(0)
  #ahead = milliseconds(0)

  now(): Instant {
    return plus(NOON, milliseconds(this.#passed + this.#ahead))
  }

  uptime(): Duration {
    return this.#passed
  }

  pass(by: Duration): void {
    this.#passed = milliseconds(this.#passed + by)
  }

  /** Sets only the time of day, as an operator sets a clock. */
  jump(by: Duration): void {
    this.#ahead = milliseconds(this.#ahead + by)
  }
}
