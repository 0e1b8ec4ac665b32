/**
 * The ended sessions, in memory: what lets an API call be refused without asking the store. D-34.
 *
 * A copy of the store's list, followed by its sequence numbers. A number is taken before its transaction
 * commits, so a lower one can show up after a higher one; every read therefore goes back to where the list
 * stood `OVERLAP` before the last one. The store lets no transaction live that long, so nothing is missed.
 */
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, milliseconds, seconds } from '../../../base/time/duration.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { STALE_AFTER } from '../../stale.ts'
import type { EndedSubject, SessionEnding } from '../api-session.ts'
import type { SessionEndings } from '../stores.ts'

/** Twice the longest life of a transaction (store/dialects/postgres.ts). */
const OVERLAP: Duration = seconds(60)

export interface EndedSessions {
  has(subject: EndedSubject): boolean
  /** What this instance ended itself: felt at once, before the next refresh. */
  add(ending: SessionEnding): void
  /** Reads what is new. Called twice a second. */
  refresh(): Promise<void>
  /** The copy is too old to be trusted. */
  isStale(): boolean
  /** How old the copy is; undefined as long as nothing was read. */
  age(): Duration | undefined
  /** Everything that is known, or what may be newer than a cursor. Never too little; what is in it may come twice. */
  entries(after?: number): readonly KnownEnding[]
  /** Up to where nothing is missing, whatever commits late; undefined as long as nothing was read. */
  cursor(): number | undefined
  /** The highest number that was seen. */
  latest(): number
  /** Told of every end that is new here. Answers how to stop that. */
  onEnd(listener: (ending: KnownEnding) => void): () => void
}

export type KnownEnding = Pick<SessionEnding, 'subject' | 'keepUntil'>

export function createEndedSessions(deps: {
  readonly sessionEndings: Pick<SessionEndings, 'listAfter'>
  readonly clock: Clock
}): EndedSessions {
  const { sessionEndings, clock } = deps
  /** `sequence` is undefined until the store has told it: what this instance has just ended. */
  const known = new Map<EndedSubject, { readonly until: Instant; readonly sequence?: number }>()
  const listeners = new Set<(ending: KnownEnding) => void>()
  /**
   * How far the list was known at which time, oldest first; the first is where the next read begins. At the start
   * that is the beginning: nobody knows how the list stood `OVERLAP` ago.
   */
  let marks: { readonly sequence: number; readonly at: Duration }[] = [
    { sequence: 0, at: milliseconds(Number.NEGATIVE_INFINITY) },
  ]
  let freshAt: Duration | undefined

  /** A session that is ended again is never forgotten earlier for it. */
  function keep({ subject, keepUntil, sequence }: SessionEnding & { sequence?: number }): void {
    const before = known.get(subject)
    const until = before !== undefined && before.until > keepUntil ? before.until : keepUntil
    known.set(subject, sequence === undefined ? { ...before, until } : { until, sequence })
    if (before !== undefined) return
    for (const listener of listeners) listener({ subject, keepUntil })
  }

  function age(): Duration | undefined {
    return freshAt === undefined ? undefined : milliseconds(clock.uptime() - freshAt)
  }

  function forgetExpired(now: Instant): void {
    for (const [subject, { until }] of known) if (until <= now) known.delete(subject)
  }

  return {
    has: (subject) => known.has(subject),

    add: keep,

    async refresh() {
      const begun = clock.uptime()
      // Counted from the last read, not from now: after a long pause, what was under way then has not been seen yet.
      const counted = (freshAt ?? Number.NEGATIVE_INFINITY) - OVERLAP
      marks = marks.filter((_, i) => {
        const following = marks[i + 1]
        return following === undefined || following.at > counted
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
      const known = age()
      return known === undefined || known > STALE_AFTER
    },

    age,

    entries: (after = -1) =>
      [...known]
        .filter(([, { sequence }]) => sequence === undefined || sequence > after)
        .map(([subject, { until }]) => ({ subject, keepUntil: until })),

    cursor: () => (freshAt === undefined ? undefined : (marks[0]?.sequence ?? 0)),

    latest: () => marks.at(-1)?.sequence ?? 0,

    onEnd(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
