/**
 * Notices the end of a session while a command runs: asks the server regularly, which also keeps the token
 * fresh, and at once when a connection was cut. D-424.
 */
import { RateLimited, ServerUnavailable } from '../../../client/client.ts'
import type { Session } from '../../../client/session.ts'

export interface SessionWatch {
  /** Resolves with the reason when the session has ended. */
  readonly ended: Promise<unknown>
  /** Asks now; resolves when the answer is there. Never throws. */
  ask(): Promise<void>
  stop(): void
}

const INTERVAL_MILLISECONDS = 30_000
const PATH = '/edge/client/v1/current-api-session'

export function watchSession(session: Pick<Session, 'call'>): SessionWatch {
  const ended = Promise.withResolvers<unknown>()
  let asking: Promise<void> | undefined

  async function askOnce(): Promise<void> {
    try {
      await session.call(PATH)
    } catch (error) {
      // A server that is away says nothing about the session.
      const isAway = error instanceof ServerUnavailable || error instanceof RateLimited
      if (!isAway) ended.resolve(error)
    }
  }

  function ask(): Promise<void> {
    asking ??= askOnce().finally(() => {
      asking = undefined
    })
    return asking
  }

  const timer = setInterval(ask, INTERVAL_MILLISECONDS)
  return { ended: ended.promise, ask, stop: () => clearInterval(timer) }
}
