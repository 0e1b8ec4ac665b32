/**
 * What the routers of this process's feeds and confirmations say about themselves, written to the store a little at a
 * time: D-381. However many routers there are and however often they call, there is at most one write a second, and
 * while nothing changes one in thirty seconds.
 */
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import type { Log } from '../../../base/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, milliseconds, minutes, seconds } from '../../../base/time/duration.ts'
import { type Instant, minus } from '../../../base/time/instant.ts'
import { type Position, writePosition } from '../../sessions/confirming/position.ts'
import type { RunChange } from '../../sessions/confirming/stores.ts'
import type { Stores, Transaction } from '../../stores.ts'

export interface RouterPresence {
  /** A router opened this feed. */
  opened(routerId: IdentityId, run: string, feed: string): void
  closed(routerId: IdentityId, run: string, feed: string): void
  /** Returns false if the router calls too often: the call is not counted. */
  confirmed(
    routerId: IdentityId,
    run: string,
    position: Position,
    sessionIds: readonly ApiSessionId[],
  ): boolean
  /** Writes what is left, for the end of the process. */
  flush(): Promise<void>
}

/** Between two writes. */
const LEAST_PAUSE: Duration = seconds(1)
/** How old a written contact may be, while nothing else changes. */
const WRITE_CONTACT: Duration = seconds(30)
/** A run that was not heard for this long refuses everything, and is not needed beside a newer one. */
const FORGET_RUN: Duration = minutes(2)
/** Of one router in ten seconds; it needs about one a second while sessions end. */
const MOST_CALLS = 100
const CALLS_WINDOW: Duration = seconds(10)
/** So that a flood of reports cannot fill the memory: the oldest report of a session is dropped, and comes again. */
const MOST_SESSIONS = 10_000

/** Programs whose last position is in memory; of others it is written once more. */
const MOST_HEARD = 10_000

interface Heard {
  /** The last position that was written. */
  readonly written: string
  readonly writtenAt: Duration
}

export function createRouterPresence(deps: {
  readonly clock: Clock
  readonly transaction: Transaction
  readonly sessionContacts: Pick<Stores['sessionContacts'], 'note'>
  readonly log: Pick<Log, 'warn'>
}): RouterPresence {
  const { clock, log } = deps
  /** By router and run. */
  let changes = new Map<string, RunChange>()
  let sessions = new Map<string, { readonly routerId: IdentityId; readonly id: ApiSessionId }>()
  const heard = new BoundedMap<string, Heard>(MOST_HEARD)
  const calls = new Map<IdentityId, { count: number; readonly since: Duration }>()
  let flushedAt = milliseconds(Number.NEGATIVE_INFINITY)
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> = Promise.resolve()
  let isFailing = false

  function change(routerId: IdentityId, run: string, more: Partial<RunChange>): void {
    const key = keyOf(routerId, run)
    const contactAt = clock.now()
    changes.set(key, { contactAt, ...changes.get(key), routerId, run, ...more })
    soon()
  }

  function soon(): void {
    if (timer !== undefined) return
    const wait = Math.max(0, flushedAt + LEAST_PAUSE - clock.uptime())
    timer = setTimeout(() => {
      timer = undefined
      flushing = flushing.then(write)
    }, wait)
    timer.unref()
  }

  async function write(): Promise<void> {
    flushedAt = clock.uptime()
    const now = clock.now()
    const [runs, reports] = [[...changes.values()], [...sessions.values()]]
    changes = new Map()
    sessions = new Map()
    try {
      if (runs.length > 0) await writeRuns(runs, now)
      for (const [routerId, ofRouter] of Map.groupBy(reports, (one) => one.routerId)) {
        const ids = ofRouter.map(({ id }) => id)
        await deps.sessionContacts.note(routerId, ids, now)
      }
      isFailing = false
    } catch (error) {
      // A position is confirmed again with the next call; until then the router is shown as unconfirmed.
      for (const { routerId, run } of runs) heard.delete(keyOf(routerId, run))
      if (!isFailing) log.warn({ err: error }, 'the confirmations of routers cannot be stored')
      isFailing = true
    }
  }

  function writeRuns(runs: readonly RunChange[], now: Instant): Promise<void> {
    return deps.transaction(async (tx) => {
      await tx.routerRuns.apply(runs)
      for (const { routerId, run, opened } of runs) {
        if (opened === undefined) continue
        await tx.routerRuns.removeOthers(routerId, run, minus(now, FORGET_RUN))
      }
    })
  }

  function isTooOften(routerId: IdentityId): boolean {
    const now = clock.uptime()
    const before = calls.get(routerId)
    if (before === undefined || now - before.since >= CALLS_WINDOW) {
      calls.set(routerId, { count: 1, since: now })
      return false
    }
    before.count += 1
    return before.count > MOST_CALLS
  }

  return {
    opened(routerId, run, feed) {
      const at = clock.now()
      change(routerId, run, { contactAt: at, opened: { feed, at } })
    },

    closed(routerId, run, feed) {
      const key = keyOf(routerId, run)
      heard.delete(key)
      // That a connection ended is not heard from the router.
      const contactAt = changes.get(key)?.contactAt ?? NEVER
      change(routerId, run, { contactAt, closed: { feed, at: clock.now() } })
    },

    confirmed(routerId, run, position, sessionIds) {
      if (isTooOften(routerId)) return false
      const key = keyOf(routerId, run)
      const text = writePosition(position)
      const last = heard.get(key)
      const uptime = clock.uptime()
      const isNew = last?.written !== text
      if (isNew || uptime - last.writtenAt >= WRITE_CONTACT) {
        heard.set(key, { written: text, writtenAt: uptime })
        const at = clock.now()
        change(routerId, run, { contactAt: at, ...(isNew ? { step: { position, at } } : {}) })
      }
      for (const id of sessionIds) {
        if (sessions.size >= MOST_SESSIONS) break
        sessions.set(`${routerId} ${id}`, { routerId, id })
      }
      if (sessions.size > 0) soon()
      return true
    },

    async flush() {
      clearTimeout(timer)
      timer = undefined
      flushing = flushing.then(write)
      await flushing
    },
  }
}

const NEVER = 0 as Instant

function keyOf(routerId: IdentityId, run: string): string {
  return `${routerId} ${run}`
}
