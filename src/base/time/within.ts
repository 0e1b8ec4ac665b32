/** Waits with a time limit. */
import { setTimeout } from 'node:timers/promises'
import type { Duration } from './duration.ts'

/** Waits at most `limit` for `work` to end, whether it succeeds or fails. Returns whether it ended in time. */
export async function endsWithin(limit: Duration, work: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController()
  // A timer instead of the clock: it does nothing but end the wait.
  const tooLate = setTimeout(limit, false, { signal: waiting.signal }).catch(() => false)
  const ended = work.then(
    () => true,
    () => true,
  )
  try {
    return await Promise.race([ended, tooLate])
  } finally {
    waiting.abort()
  }
}
