/**
 * The ended sessions, in memory: what lets an API call be refused without asking the store. D-34.
 *
 * A copy of the store's list, followed by its sequence numbers. A number is taken before its transaction
 * commits, so a lower one can show up after a higher one; every read therefore goes back to where the list
 * stood `OVERLAP` ago. The store lets no transaction live that long, so nothing is missed.
 */
import type { Clock } from '../../base/clock.ts'
import { type Duration, milliseconds, seconds } from '../../base/duration.ts'
import type { ApiSessionId } from '../../base/ids.ts'
import type { Instant } from '../../base/instant.ts'
import type { SessionEnding } from './api-session.ts'
import type { SessionEndings } from './stores.ts'

/** Twice the longest life of a transaction (store/dialects/postgres.ts). */
const OVERLAP: Duration = seconds(60)

/** D-34: an instance whose copy is older than this refuses calls. */
const STALE_AFTER: Duration = seconds(5)

export interface EndedSessions {
  has(id: ApiSessionId): boolean
  /** What this instance ended itself: felt at once, before the next refresh. */
  add(ending: SessionEnding): void
  /** Reads what is new. Called twice a second. */
  refresh(): Promise<void>
  /** The copy is too old to be trusted. */
  isStale(): boolean
}

export function createEndedSessions(deps: {
  readonly sessionEndings: Pick<SessionEndings, 'listAfter'>
  readonly clock: Clock
}): EndedSessions {
  const { sessionEndings, clock } = deps
  const keepUntil = new Map<ApiSessionId, Instant>()
  /**
   * How far the list was known at which time, oldest first; the first is where the next read begins. At the start
   * that is the beginning: nobody knows how the list stood `OVERLAP` ago.
   */
  let marks: { readonly sequence: number; readonly at: Duration }[] = [
    { sequence: 0, at: milliseconds(Number.NEGATIVE_INFINITY) },
  ]
  let freshAt: Duration | undefined

  /** A session that is ended again is never forgotten earlier for it. */
  function keep({ sessionId, keepUntil: until }: SessionEnding): void {
    const known = keepUntil.get(sessionId)
    if (known === undefined || known < until) keepUntil.set(sessionId, until)
  }

  function forgetExpired(now: Instant): void {
    for (const [id, until] of keepUntil) if (until <= now) keepUntil.delete(id)
  }

  return {
    has: (id) => keepUntil.has(id),

    add: keep,

    async refresh() {
      const begun = clock.uptime()
      marks = marks.filter((_, i) => {
        const following = marks[i + 1]
        return following === undefined || following.at > begun - OVERLAP
      })
      const rows = await sessionEndings.listAfter(marks[0]?.sequence ?? 0)
      for (const row of rows) keep(row)
      marks.push({
        sequence: Math.max(marks.at(-1)?.sequence ?? 0, rows.at(-1)?.sequence ?? 0),
        // The end of the read: a number that it saw may have been taken while it ran.
        at: clock.uptime(),
      })
      forgetExpired(clock.now())
      freshAt = begun
    },

    isStale: () => {
      if (freshAt === undefined) return true
      return milliseconds(clock.uptime() - freshAt) > STALE_AFTER
    },
  }
}
