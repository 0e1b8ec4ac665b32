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
  /**
   * Takes the place of a round that follows, while nothing was committed since the last one: the copy is as fresh as if
   * it had been read this long ago.
   */
  readonly confirm?: (age: Duration) => void
  /** Whether a round is needed although nothing was committed. */
  readonly isDue?: () => boolean
  /**
   * Runs at the same moments as the work that follows, and not more often than that while the database tells of
   * changes, so that an idle process wakes up once for all of it.
   */
  readonly isOnBeat?: true
  /**
   * Returns when its next round must begin, if that is before the next beat. Undefined if it does not know: then it is
   * after `every`, whatever the beat is.
   */
  readonly dueIn?: () => Duration | undefined
  /** Runs its first round at once. */
  readonly isUrgent?: true
  /** Gets a function that starts a round soon, in the place of waiting for `every`. */
  readonly wokenBy?: (soon: () => void) => void
  /** How soon; default: 50 milliseconds. */
  readonly soonAfter?: Duration
}

type Changes = Pick<Store['changes'], 'isPushed' | 'follow'> &
  Partial<Pick<Store['changes'], 'isProven' | 'version'>>

/**
 * The beat while the database tells of changes. Far less than a copy may be old (D-34), also after the way to a worker
 * (D-289).
 */
const WHILE_PUSHED: Duration = seconds(1)
/** The same, after a first notice from a source that cannot fail silently (D-364). */
const ONCE_PROVEN: Duration = seconds(2)
/** Between two rounds that notices start, so that a burst of changes is read together. */
const LEAST_PAUSE: Duration = milliseconds(50)
/** Rounds that begin within this time share one question whether anything was committed. */
const ONE_BEAT: Duration = milliseconds(10)
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
  const ask = askOnce(changes)
  const repeated = works.map((work) => ({ work, ...repeat(work, log, changes, ask) }))
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
  { name, every, round, follows, confirm, isOnBeat, ...work }: RepeatedWork,
  log: Log,
  changes: Changes | undefined,
  ask: AskVersion,
): { readonly stop: () => Promise<void>; readonly soon: () => void } {
  const { isUrgent, isDue: isDueAnyway, wokenBy, dueIn, soonAfter = LEAST_PAUSE } = work
  let isStopped = false
  let isRunning = false
  /** Told of a change while a round was running. */
  let isDue = false
  let isFailing = false
  /** Undefined if it is not known: then every round reads. */
  let seen: unknown
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  /** Whether the timer is that of a round that starts soon: further notices must not put it off. */
  let isSoon = false

  async function once(): Promise<void> {
    isRunning = true
    isDue = false
    isSoon = false
    try {
      await readOrConfirm()
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

  async function readOrConfirm(): Promise<void> {
    if (confirm === undefined) {
      await round()
      return
    }
    const { version, askedAt } = await ask()
    if (version !== undefined && version === seen && !isFailing && !isDueAnyway?.()) {
      confirm(milliseconds(performance.now() - askedAt))
      return
    }
    await round()
    // Asked before the read: what was committed during it is read next time.
    seen = version
  }

  function pause(): Duration {
    if (!follows && !isOnBeat) return every
    const left = untilBeat(interval(), performance.now())
    if (dueIn === undefined || isFailing) return left
    return milliseconds(Math.min(left, Math.max(1, Math.ceil(dueIn() ?? every))))
  }

  function interval(): Duration {
    if (isFailing || !changes?.isPushed()) return every
    const beat = changes.isProven?.() === true ? ONCE_PROVEN : WHILE_PUSHED
    return follows ? beat : milliseconds(Math.max(every, beat))
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

type AskVersion = () => Promise<{ readonly version: unknown; readonly askedAt: number }>

/** A beat asks once for all works: a follower waits for the next beat at most. */
function askOnce(changes: Changes | undefined): AskVersion {
  let last: { readonly version: unknown; readonly askedAt: number } | undefined
  return async () => {
    const askedAt = performance.now()
    if (last === undefined || askedAt - last.askedAt > ONE_BEAT) {
      last = { version: changes?.version?.(), askedAt }
    }
    return { version: await last.version, askedAt: last.askedAt }
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
