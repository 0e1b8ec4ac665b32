/**
 * Tells which moments are certainly past. The time of day can be wrong for a while, and what was deleted or ended
 * during that time does not come back when the clock is corrected. So code that does something irreversible because of
 * the time asks this module, not the clock: R115, D-230. It compares the time of day with the uptime, which never
 * jumps, and with the clock of the database.
 */
import type { Clock } from './clock.ts'
import { type Duration, hours, milliseconds, minutes, seconds } from './duration.ts'
import { type Instant, instant } from './instant.ts'

export interface SettledTime {
  /** The latest moment that is past according to every reading of the last hour and to the database. */
  past(): Instant
  /**
   * The same, for deletions that can wait: undefined until the clocks have been watched for a quarter of an hour,
   * because a process that starts while the clock is wrong cannot detect it.
   */
  removable(): Instant | undefined
  /** Takes a reading. Call it about once a second. */
  look(): void
  /** Reports the current time of the database. */
  compare(databaseTime: Instant): void
  /** How far the time of day is ahead of the database; 0 if they agree. */
  aheadOfDatabase(): Duration
}

/** A clock that was set forward must stay there this long before it is believed. */
export const SETTLES_AFTER: Duration = hours(1)

/** Nothing is deleted for this long after a start. */
export const WATCHED_FOR: Duration = minutes(15)

/** The clocks of two synchronized machines differ by less than this. */
const DATABASE_TOLERANCE: Duration = minutes(1)

/** Time synchronization makes smaller steps than this. */
const NOTICED_JUMP: Duration = seconds(5)

/** At most one reading in this time is kept, which bounds their number. */
const READING_EVERY: Duration = minutes(1)

interface Reading {
  readonly at: Duration
  /** The time of day minus the uptime: constant until the clock is set. */
  readonly offset: number
}

export function createSettledTime(deps: {
  readonly clock: Clock
  /** Called for every jump of the time of day; the jump is positive if the clock went forward. */
  readonly onJump?: (by: Duration) => void
}): SettledTime {
  const { clock, onJump = () => {} } = deps
  const startedAt = clock.uptime()
  /** In ascending order, and the lowest is the oldest: a later reading that is lower replaces those above it. */
  let readings: Reading[] = []
  let lastOffset: number | undefined
  let databaseOffset: number | undefined

  function read(): Reading {
    const at = clock.uptime()
    const offset = clock.now() - at
    const jump = lastOffset === undefined ? 0 : offset - lastOffset
    if (Math.abs(jump) >= NOTICED_JUMP) onJump(milliseconds(Math.round(jump)))
    lastOffset = offset
    readings = readings.filter(
      (one) => one.offset < offset && milliseconds(at - one.at) <= SETTLES_AFTER,
    )
    const latest = readings.at(-1)
    const reading = { at, offset }
    if (latest === undefined || at - latest.at >= READING_EVERY) readings.push(reading)
    return reading
  }

  function past(): Instant {
    const { at, offset } = read()
    const lowest = Math.min(offset, readings[0]?.offset ?? offset)
    const isAhead = databaseOffset !== undefined && lowest - databaseOffset > DATABASE_TOLERANCE
    return instant(Math.floor(at + (isAhead ? (databaseOffset ?? lowest) : lowest)))
  }

  return {
    past,
    removable: () => (clock.uptime() - startedAt < WATCHED_FOR ? undefined : past()),
    look: () => void read(),
    compare(databaseTime) {
      databaseOffset = databaseTime - clock.uptime()
    },
    aheadOfDatabase() {
      const ahead = databaseOffset === undefined ? 0 : read().offset - databaseOffset
      return milliseconds(ahead > DATABASE_TOLERANCE ? Math.round(ahead) : 0)
    },
  }
}
