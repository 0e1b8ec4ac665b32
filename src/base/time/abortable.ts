/** Waits that a signal can end. */

import { deferred } from './deferred.ts'

/**
 * Waits for `work` until the signal aborts; then throws its reason. The work itself continues, because other callers
 * may wait for it too, and a later failure of it is ignored.
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  work.catch(() => undefined)
  signal.throwIfAborted()
  const aborted = deferred<never>()
  const giveUp = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
