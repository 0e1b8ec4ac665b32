/**
 * The ended sessions, in memory, so that an API call can be refused without reading the store. D-34.
 *
 * A copy of the store's list, which is read by sequence number. A number is assigned before its transaction commits, so
 * a lower one can appear after a higher one. Every read therefore starts where the list was `OVERLAP` before the last
 * read. The store ends every transaction sooner than that, so nothing is missed.
 */
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, milliseconds, seconds } from '../../../base/time/duration.ts'
import { STALE_AFTER } from '../../policies/rules.ts'
import type { EndedSubject, SessionEnding } from '../api-session.ts'
import { type Position, positionOf } from '../confirming/position.ts'
import type { SessionEndings } from '../stores.ts'

/** Twice the longest duration of a transaction (store/dialects/postgres/limits.ts). */
const OVERLAP: Duration = seconds(60)

export interface EndedSessions {
  has(subject: EndedSubject): boolean
  /** Adds an ending made by this instance, so that it takes effect before the next refresh. */
  add(ending: SessionEnding & { readonly sequence?: number }): void
  /** Reads new endings. Called twice a second. */
  refresh(): Promise<void>
  /**
   * Takes over what another process read, in the place of a `refresh`: the rows that are new since its last message,
   * and how long ago it began to read them. Counts only after a first `refresh`, because that reads the older rows
   * (D-289).
   */
  learn(rows: readonly EndingRow[], age: Duration): void
  /** Whether the copy is too old to be trusted. */
  isStale(): boolean
  /** The age of the copy; undefined before the first read. */
  age(): Duration | undefined
  /** Returns all known endings, or those that may be newer than a cursor. Misses none; may repeat some. */
  entries(after?: number): readonly KnownEnding[]
  /** The number up to which nothing is missing, even if a commit is late; undefined before the first read. */
  cursor(): number | undefined
  /** The highest number seen so far. */
  latest(): number
  /** Exactly which endings this copy contains (D-381). */
  position(): Position
  /** Calls the listener when the position contains more than before. */
  onPosition(listener: () => void): void
  /** Calls the listener for every ending that is new to this instance. Returns a function that unsubscribes it. */
  onEnd(listener: (ending: KnownEnding) => void): () => void
}

export interface KnownEnding extends Pick<SessionEnding, 'subject' | 'keepUntil'> {
  /** Counted from when this instance learned of the ending, by a monotonic clock. */
  readonly keepFor: Duration
}

export type EndingRow = SessionEnding & { readonly sequence: number }

interface Known extends Omit<KnownEnding, 'subject'> {
  /** By the uptime clock. */
  readonly learnedAt: Duration
  /** Undefined for an ending that this instance has just made, until it is read from the store. */
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
   * How far the list had been read at which time, oldest first; the next read starts at the first mark. Initially that
   * is the beginning of the list, since its state `OVERLAP` ago is unknown.
   */
  let marks: { readonly sequence: number; readonly at: Duration }[] = [
    { sequence: 0, at: milliseconds(Number.NEGATIVE_INFINITY) },
  ]
  let freshAt: Duration | undefined
  /** The numbers above the cursor that have been seen. */
  const seen = new Set<number>()
  let position: Position | undefined
  const positionListeners = new Set<() => void>()

  /** Ending a session again never shortens how long its ending is kept. */
  function keep(ending: SessionEnding & { readonly sequence?: number }): void {
    const { subject, at, keepUntil, sequence } = ending
    if (sequence !== undefined && !seen.has(sequence)) {
      seen.add(sequence)
      position = undefined
      for (const listener of positionListeners) listener()
    }
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

  /** Marks that are older than the overlap are not needed any more, except the last of them. */
  function forgetMarks(): void {
    // Counted from the last read, not from now: after a long pause, transactions open at that time have not been seen
    // yet.
    const counted = (freshAt ?? Number.NEGATIVE_INFINITY) - OVERLAP
    marks = marks.filter((_, i) => {
      const following = marks[i + 1]
      return following === undefined || following.at > counted
    })
    const complete = marks[0]?.sequence ?? 0
    for (const sequence of seen) {
      // Nothing can appear below the cursor any more.
      if (sequence > complete) continue
      seen.delete(sequence)
      position = undefined
    }
  }

  function takeOver(rows: readonly EndingRow[], begun: Duration): void {
    for (const row of rows) keep(row)
    const last = marks.at(-1)?.sequence
    const sequence = rows.reduce((most, row) => Math.max(most, row.sequence), last ?? 0)
    // Use the time after the read: a number in it may have been assigned while it ran. If there is no new number, the
    // earlier time holds.
    if (sequence !== last) marks.push({ sequence, at: clock.uptime() })
    forgetExpired()
    freshAt = begun
  }

  return {
    has: (subject) => known.has(subject),

    add: keep,

    async refresh() {
      const begun = clock.uptime()
      forgetMarks()
      takeOver(await sessionEndings.listAfter(marks[0]?.sequence ?? 0), begun)
    },

    learn(rows, age) {
      if (freshAt === undefined) {
        for (const row of rows) keep(row)
        return
      }
      forgetMarks()
      takeOver(rows, milliseconds(Math.max(freshAt, clock.uptime() - age)))
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

    position() {
      position ??= positionOf(marks[0]?.sequence ?? 0, seen)
      return position
    },

    onPosition(listener) {
      positionListeners.add(listener)
    },

    onEnd(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
