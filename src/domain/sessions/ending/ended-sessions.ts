/**
 * The ended sessions, in memory: what lets an API call be refused without asking the store. D-34.
 *
 * A copy of the store's list, followed by its sequence numbers. A number is taken before its transaction
 * commits, so a lower one can show up after a higher one; every read therefore goes back to where the list
 * stood `OVERLAP` before the last one. The store lets no transaction live that long, so nothing is missed.
 */
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, milliseconds, seconds } from '../../../base/time/duration.ts'
import { STALE_AFTER } from '../../policies/rules.ts'
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

export interface KnownEnding extends Pick<SessionEnding, 'subject' | 'keepUntil'> {
  /** Counted from when the ending is learned, by a clock that never jumps. */
  readonly keepFor: Duration
}

interface Known extends Omit<KnownEnding, 'subject'> {
  /** By the uptime. */
  readonly learnedAt: Duration
  /** Undefined until it is read from the store, for an ending that this instance has just made. */
  readonly sequence: number | undefined
}

export function createEndedSessions(deps: {
  readonly sessionEndings: Pick<SessionEndings, 'listAfter'>
  readonly clock: Clock
}): EndedSessions {
  const { sessionEndings, clock } = deps
  const known = new Map<EndedSubject, Known>()
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
  function keep(ending: SessionEnding & { readonly sequence?: number }): void {
    const { subject, at, keepUntil, sequence } = ending
    const before = known.get(subject)
    const keepFor = milliseconds(Math.max(keepUntil - at, before?.keepFor ?? 0))
    known.set(subject, {
      keepUntil:
        before !== undefined && before.keepUntil > keepUntil ? before.keepUntil : keepUntil,
      keepFor,
      learnedAt: before?.learnedAt ?? clock.uptime(),
      sequence: sequence ?? before?.sequence,
    })
    if (before !== undefined) return
    for (const listener of listeners) listener({ subject, keepUntil, keepFor })
  }

  function age(): Duration | undefined {
    return freshAt === undefined ? undefined : milliseconds(clock.uptime() - freshAt)
  }

  /**
   * Uses both clocks: the time of day may be ahead for a moment, and a session whose ending was forgotten then would be
   * alive again afterwards (R115, D-230).
   */
  function forgetExpired(): void {
    const now = clock.now()
    const uptime = clock.uptime()
    for (const [subject, { keepUntil, keepFor, learnedAt }] of known) {
      if (keepUntil <= now && keepFor <= uptime - learnedAt) known.delete(subject)
    }
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
      forgetExpired()
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
        .map(([subject, { keepUntil, keepFor }]) => ({ subject, keepUntil, keepFor })),

    cursor: () => (freshAt === undefined ? undefined : (marks[0]?.sequence ?? 0)),

    latest: () => marks.at(-1)?.sequence ?? 0,

    onEnd(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
