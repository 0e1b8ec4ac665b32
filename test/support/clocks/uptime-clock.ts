/** A clock whose uptime can be moved too: for the intervals that a service in this process measures by itself. */
import { type Duration, milliseconds } from '../../../src/base/time/duration.ts'
import { TestClock } from './clock.ts'

export class UptimeClock extends TestClock {
  #later = milliseconds(0)
  #held: Duration | undefined

  override uptime(): Duration {
    return milliseconds((this.#held ?? super.uptime()) + this.#later)
  }

  /** From here on the uptime moves by `pass` alone, in whole milliseconds. */
  holdUptime(): void {
    this.#held ??= milliseconds(Math.floor(super.uptime()))
  }

  pass(time: Duration): void {
    this.#later = milliseconds(this.#later + time)
  }

  /** Lets time pass on both clocks: copies in memory are stale until they are read again. */
  elapse(time: Duration): void {
    this.advance(time)
    this.pass(time)
  }
}

/** The uptime stands still: copies in memory do not get too old while a busy machine keeps a service from its work. */
export function clockOfStandingUptime(): UptimeClock {
  const clock = new UptimeClock()
  clock.holdUptime()
  return clock
}
