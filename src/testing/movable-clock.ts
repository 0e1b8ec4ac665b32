/** The clock of a fake server: that of this machine, which a scenario can set off. */
import { type Clock, systemClock } from '../base/time/clock.ts'
import { milliseconds } from '../base/time/duration.ts'
import { plus } from '../base/time/instant.ts'

/** `move` adds to how far it is ahead of this machine. */
export function createMovableClock(): Clock & { move(bySeconds: number): void } {
  let aheadMilliseconds = 0
  return {
    now: () => plus(systemClock.now(), milliseconds(aheadMilliseconds)),
    uptime: () => systemClock.uptime(),
    move(bySeconds) {
      aheadMilliseconds += bySeconds * 1_000
    },
  }
}
