/** A clock that starts at the real now and only moves forward: certificates of another year fail in every TLS stack. */
import type { Clock } from '../../../src/base/time/clock.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { type Duration, milliseconds } from '../../../src/base/time/duration.ts'
import { type Instant, plus } from '../../../src/base/time/instant.ts'

export class TestClock implements Clock {
  #ahead = milliseconds(0)
  #held: Instant | undefined

  now() {
    return plus(this.#held ?? systemClock.now(), this.#ahead)
  }

  uptime() {
    return systemClock.uptime()
  }

  /** From here on the time of day stands still, and moves by `advance` alone: for tests of an exact moment. */
  hold(): void {
    this.#held ??= systemClock.now()
  }

  advance(by: Duration): void {
    this.#ahead = milliseconds(this.#ahead + by)
  }
}
