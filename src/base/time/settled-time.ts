/**
 * Which moments are surely past. The time of day can be wrong for a while, and what was removed or ended meanwhile does
 * not come back when it is right again. So whatever is done for good because of the time asks here, not the clock: R115,
 * D-230. It compares the time of day with the uptime, which never jumps, and with the clock of the database.
 */
import type { Clock } from './clock.ts'
import { type Duration, hours, milliseconds, minutes, seconds } from './duration.ts'
import { type Instant, instant } from './instant.ts'

export interface SettledTime {
  /** The latest moment that is past by every reading of the last hour, and by the database. */
  past(): Instant
  /**
   * The same, for what nobody misses if it stays a little longer: undefined until the clocks were watched for a quarter
   * of an hour, because a process that starts while the clock is wrong cannot know better.
   */
  removable(): Instant | undefined
  /** Takes a reading. Called every second or so. */
  look(): void
  /** The time that the database has now. */
  compare(databaseTime: Instant): void
  /** How far the time of day is ahead of the database; 0 when they agree. */
  aheadOfDatabase(): Duration
}

/** For so long a clock that was set forward must stay so to be believed. */
export const SETTLES_AFTER: Duration = hours(1)

/** For so long nothing is removed after a start. */
export const WATCHED_FOR: Duration = minutes(15)

/** Clocks of two machines that are kept right differ by less. */
const DATABASE_TOLERANCE: Duration = minutes(1)

/** Smaller steps are what keeps a clock right. */
const NOTICED_JUMP: Duration = seconds(5)

/** A reading is kept at most this often, so that there are few of them. */
const READING_EVERY: Duration = minutes(1)

interface Reading {
  readonly at: Duration
  /** The time of day less the uptime: the same as long as nobody sets the clock. */
  readonly offset: number
}

export function createSettledTime(deps: {
  readonly clock: Clock
  /** Told of every jump of the time of day: forward when it is positive. */
  readonly onJump?: (by: Duration) => void
}): SettledTime {
  const { clock, onJump = () => {} } = deps
  const startedAt = clock.uptime()
  /** Lowest first, and the lowest is the oldest: a later one that is lower takes the place of those above it. */
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
