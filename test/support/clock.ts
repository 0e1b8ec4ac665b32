/** A clock that starts at the real now and only moves forward: certificates of another year fail in every TLS stack. */
import type { Clock } from '../../src/base/clock.ts'
import { systemClock } from '../../src/base/clock.ts'
import { type Duration, milliseconds } from '../../src/base/duration.ts'
import { plus } from '../../src/base/instant.ts'

export class TestClock implements Clock {
  #ahead = milliseconds(0)

  now() {
    return plus(systemClock.now(), this.#ahead)
  }

  uptime() {
    return systemClock.uptime()
  }

  advance(by: Duration): void {
    this.#ahead = milliseconds(this.#ahead + by)
  }
}
