/**
 * Work that repeats while the service runs: one round after the other, never two at a time. If a round fails, it is
 * retried; the log has a line when the failures begin and when they end.
 */

import type { Log } from '../base/log.ts'
import { type Duration, milliseconds, seconds } from '../base/time/duration.ts'
import type { Store } from '../domain/stores.ts'

export interface RepeatedWork {
  readonly name: string
  readonly every: Duration
  readonly round: () => Promise<unknown>
  /**
   * Compares a copy in memory with the database: runs as soon as the database tells of a change, and less often than
   * `every` while it does (D-298).
   */
  readonly follows?: true
  /** Runs at the same moments as the work that follows, so that an idle process wakes up once for all of it. */
  readonly isOnBeat?: true
  /** Runs its first round at once. */
  readonly isUrgent?: true
  /** Gets a function that starts a round soon, in the place of waiting for `every`. */
  readonly wokenBy?: (soon: () => void) => void
  /** How soon; default: 50 milliseconds. */
  readonly soonAfter?: Duration
}

type Changes = Store['changes']

/**
 * How often copies are compared while the database tells of changes. Far less than a copy may be old (D-34), also after
 * the way to a worker (D-289).
 */
const WHILE_PUSHED: Duration = seconds(1)
/** Between two rounds that notices start, so that a burst of changes is read together. */
const LEAST_PAUSE: Duration = milliseconds(50)
/** A timer may fire up to this long before its time, by the clock of the beats. */
const EARLY: Duration = milliseconds(5)

export interface Background {
  /** Waits for running rounds; no new round begins after this. */
  stop(): Promise<void>
}

/** Without `changes`, nothing tells of changes. */
export function runInBackground(
  works: readonly RepeatedWork[],
  log: Log,
  changes?: Changes,
): Background {
  const repeated = works.map((work) => ({ work, ...repeat(work, log, changes) }))
  changes?.follow(() => {
    for (const { work, soon } of repeated) if (work.follows) soon()
  })
  return {
    async stop() {
      await Promise.all(repeated.map(({ stop }) => stop()))
    },
  }
}

function repeat(
  { name, every, round, follows, isOnBeat, ...work }: RepeatedWork,
  log: Log,
  changes: Changes | undefined,
): { readonly stop: () => Promise<void>; readonly soon: () => void } {
  const { isUrgent, wokenBy, soonAfter = LEAST_PAUSE } = work
  let isStopped = false
  let isRunning = false
  /** Told of a change while a round was running. */
  let isDue = false
  let isFailing = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  /** Whether the timer is that of a round that starts soon: further notices must not put it off. */
  let isSoon = false

  async function once(): Promise<void> {
    isRunning = true
    isDue = false
    isSoon = false
    try {
      await round()
      if (isFailing) log.info({ work: name }, 'background work succeeds again')
      isFailing = false
    } catch (error) {
      if (!isFailing) log.error({ work: name, err: error }, 'background work failed; retrying')
      isFailing = true
    }
    isRunning = false
    isSoon = isDue
    schedule(isDue ? soonAfter : pause())
  }

  function pause(): Duration {
    if (!follows && !isOnBeat) return every
    const interval = follows && !isFailing && changes?.isPushed() ? WHILE_PUSHED : every
    return untilBeat(interval, performance.now())
  }

  function schedule(after: Duration): void {
    if (isStopped) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = once()
    }, after)
    timer.unref()
  }

  function soon(): void {
    if (isRunning) isDue = true
    else if (!isSoon) {
      isSoon = true
      schedule(soonAfter)
    }
  }

  schedule(isUrgent ? milliseconds(0) : pause())
  wokenBy?.(soon)
  return {
    soon,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/**
 * The time until the next multiple of the interval. After a timer that fired a moment too early, that is not the beat it
 * was meant for, or the round would run twice.
 */
export function untilBeat(interval: Duration, now: number): Duration {
  const left = interval - (now % interval)
  // Timers count whole milliseconds, and would round down.
  return milliseconds(Math.ceil(left > EARLY ? left : left + interval))
}
