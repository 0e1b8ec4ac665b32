/** Waiting that ends, whatever it waits for. */
import { setTimeout } from 'node:timers/promises'
import type { Duration } from './duration.ts'

/** Waits until `work` has ended, well or not, but no longer than `limit`. Answers whether it has. */
export async function endsWithin(limit: Duration, work: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController()
  // A timer, not a clock: it only ends the wait.
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
