/**
 * Watches the clock of this machine, and logs when it jumps or disagrees with the clock of the database. Code that
 * deletes or ends something because of the time uses `past`, never the time of day. R115, D-230.
 */
import type { Log } from '../base/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Duration, inSeconds, seconds } from '../base/time/duration.ts'
import { createSettledTime, type SettledTime } from '../base/time/settled-time.ts'
import type { Store } from '../domain/stores.ts'

export interface ClockWatch extends Pick<SettledTime, 'past' | 'removable'> {
  /** Compares the clocks. Call it every second. */
  round(): Promise<void>
}

export type JumpDirection = 'forward' | 'back'

/** How often the time of the database is read. */
const ASK_DATABASE: Duration = seconds(10)

export function createClockWatch(deps: {
  readonly clock: Clock
  readonly log: Log
  readonly databaseTime: Store['databaseTime']
  readonly onJump: (direction: JumpDirection) => void
}): ClockWatch {
  const { clock, log, databaseTime } = deps
  let askedAt: Duration | undefined
  let wasAhead = false
  const settled = createSettledTime({
    clock,
    onJump(by) {
      const direction = by > 0 ? 'forward' : 'back'
      deps.onJump(direction)
      const bySeconds = Math.round(inSeconds(by))
      log.warn(
        { bySeconds },
        `the clock was set ${direction}, or this machine was asleep; for an hour, nothing is ended or removed because of it`,
      )
    },
  })

  async function compareWithDatabase(): Promise<void> {
    if (askedAt !== undefined && clock.uptime() - askedAt < ASK_DATABASE) return
    askedAt = clock.uptime()
    const time = await databaseTime()
    if (time === undefined) return
    settled.compare(time)
    const ahead = settled.aheadOfDatabase()
    const aheadSeconds = Math.round(inSeconds(ahead))
    if (ahead > 0 && !wasAhead) {
      log.error({ aheadSeconds }, 'the clock is ahead of the database; correct one of the two')
    } else if (ahead === 0 && wasAhead) log.info({}, 'the clock agrees with the database again')
    wasAhead = ahead > 0
  }

  return {
    past: settled.past,
    removable: settled.removable,
    async round() {
      settled.look()
      await compareWithDatabase()
    },
  }
}
