/** Caches an expensive answer that many callers ask for: computed once in an interval. */
import { setTimeout } from 'node:timers/promises'
import type { Clock } from './clock.ts'
import type { Duration } from './duration.ts'

/**
 * Returns the answer of `ask`, at most `interval` old. Only one `ask` runs at a time. A caller that waits longer than
 * `timeLimit` gets a rejection, and so do all waiting callers if `ask` fails.
 */
export function atMostEvery<T>(
  limits: { readonly interval: Duration; readonly timeLimit: Duration; readonly clock: Clock },
  ask: () => Promise<T>,
): () => Promise<T> {
  const { interval, timeLimit, clock } = limits
  let known: { readonly answer: T; readonly at: Duration } | undefined
  let asking: Promise<T> | undefined

  async function askAnew(): Promise<T> {
    const answer = await ask()
    known = { answer, at: clock.uptime() }
    return answer
  }

  return async () => {
    if (known !== undefined && clock.uptime() - known.at < interval) return known.answer
    asking ??= askAnew().finally(() => {
      asking = undefined
    })
    const waiting = new AbortController()
    // A timer, not the clock: it only ends the wait.
    const tooLate = setTimeout(timeLimit, undefined, { signal: waiting.signal }).then(() => {
      throw new Error('it took too long')
    })
    try {
      return await Promise.race([asking, tooLate])
    } finally {
      tooLate.catch(() => {})
      waiting.abort()
    }
  }
}
