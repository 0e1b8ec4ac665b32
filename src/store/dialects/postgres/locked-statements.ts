/**
 * Statements that wait for a locked table. Without this, the callers of one such statement would occupy every
 * connection in turn, each until its wait for the lock has timed out, and callers that need other tables would wait
 * behind them. After the first timeouts, the statement fails at once; one caller at a time tries again (D-297).
 */
import { DatabaseError } from 'pg'
import { type Duration, seconds } from '../../../base/time/duration.ts'

/** How long a statement fails at once before one caller tries again. */
const PAUSE: Duration = seconds(1)
const LOCK_NOT_AVAILABLE = '55P03'

export interface LockedStatements {
  /** Runs the statement, or throws at once if it recently waited in vain. */
  run<T>(text: string, statement: () => Promise<T>): Promise<T>
}

/** `now` is a monotonic clock. */
export function createLockedStatements(
  now: () => number = () => performance.now(),
): LockedStatements {
  /** When the next attempt is allowed. */
  const nextAttempt = new Map<string, number>()

  return {
    async run(text, statement) {
      const next = nextAttempt.get(text)
      if (next !== undefined) {
        if (now() < next) throw new Error('a table that the statement needs is locked')
        // Until this attempt has ended, the others fail.
        nextAttempt.set(text, Number.POSITIVE_INFINITY)
      }
      try {
        const result = await statement()
        if (nextAttempt.size > 0) nextAttempt.delete(text)
        return result
      } catch (error) {
        if (isTableLocked(error)) nextAttempt.set(text, now() + PAUSE)
        else if (next !== undefined) nextAttempt.delete(text)
        throw error
      }
    },
  }
}

/** A row that is locked concerns only those who need the same row. The server then names the tuple. */
function isTableLocked(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) return false
  return !/\btuple\b/.test(error.where ?? '')
}
