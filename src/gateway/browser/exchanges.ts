/**
 * Bounds the exchanges of codes with the controller. D-468. Any visitor can begin a login and come back with a made-up
 * code, and each exchange has a connection of its own.
 */
import { ServerUnavailable } from '../../client/client.ts'

/** Runs the work when it has a place. Throws ServerUnavailable if too many wait already. */
export type Exchanges = <T>(work: () => Promise<T>) => Promise<T>

const MOST_AT_ONCE = 32
const MOST_WAITING = 256

export function createExchanges({
  atOnce = MOST_AT_ONCE,
  waiting: most = MOST_WAITING,
} = {}): Exchanges {
  const waiting: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running < atOnce) running += 1
    else if (waiting.length >= most) {
      const message = 'too many sign-ins wait for the controller'
      throw new ServerUnavailable('TOO_MANY', message, { mayHaveHappened: false })
    }
    // Finished work hands its place over to the next, so `running` stays the same.
    else await new Promise<void>((begin) => waiting.push(begin))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
