/**
 * Failures of one kind for each network: D-22. Generous, and only failures count: a crowd behind one address may log in
 * as often as it likes. In memory, for each instance by itself: it slows guessing at many names down, while guesses at
 * one name are counted in the database. Each kind of guessable secret has a count of its own.
 *
 * A failure is reserved before the guess is judged, so that guesses at the same moment cannot pass the limit together.
 */

import { networkOf } from '../../../base/network.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, inSeconds, milliseconds, minutes } from '../../../base/time/duration.ts'
import { Failure } from '../../../errors/catalogue.ts'

export interface AddressFailures {
  /**
   * Runs the guess, with a failure of its address reserved. `fail` keeps it; otherwise it is given back. Where every
   * failure that is left is reserved, the guess waits for the outcome of the others. Throws RATE_LIMITED when the
   * address has failed too often within the last minute, SERVER_TOO_BUSY when too many wait. A known device has a name
   * in the place of an address.
   */
  guard<T>(address: string, guess: (fail: () => void) => Promise<T>): Promise<T>
}

const WINDOW: Duration = minutes(1)

/** Networks that are remembered at most; the one that has not failed for the longest time goes first. */
const MOST_NETWORKS = 100_000

/** Of one network. Whoever waits here has sent more guesses at once than may fail within a minute. */
const MOST_WAITING = 64

interface Count {
  begun: Duration
  failures: number
  /** Reserved by guesses that are being judged. */
  pending: number
  readonly waiting: (() => void)[]
}

export function createAddressFailures(deps: {
  /** Failures a minute; 0: no limit. */
  readonly limit: number
  readonly clock: Pick<Clock, 'uptime'>
}): AddressFailures {
  const { limit, clock } = deps
  /** In the order of the last change. */
  const counts = new Map<string, Count>()

  function countOf(network: string): Count {
    const count = counts.get(network) ?? fresh()
    if (clock.uptime() - count.begun >= WINDOW) {
      count.begun = clock.uptime()
      count.failures = 0
    }
    return count
  }

  function fresh(): Count {
    return { begun: clock.uptime(), failures: 0, pending: 0, waiting: [] }
  }

  async function reserve(network: string): Promise<Count> {
    for (;;) {
      const count = countOf(network)
      if (count.failures >= limit) throw limited(count)
      if (count.failures + count.pending < limit) {
        count.pending += 1
        remember(network, count)
        return count
      }
      if (count.waiting.length >= MOST_WAITING) {
        const detail = 'too many guesses of one address wait to be judged'
        throw new Failure('SERVER_TOO_BUSY', { retryAfterSeconds: 1, detail })
      }
      await new Promise<void>((resolve) => count.waiting.push(resolve))
    }
  }

  function remember(network: string, count: Count): void {
    counts.delete(network)
    counts.set(network, count)
    if (counts.size <= MOST_NETWORKS) return
    const [oldest] = counts.keys()
    if (oldest !== undefined) counts.delete(oldest)
  }

  function limited({ begun }: Count): Failure {
    const left = milliseconds(begun + WINDOW - clock.uptime())
    return new Failure('RATE_LIMITED', {
      retryAfterSeconds: Math.max(1, Math.ceil(inSeconds(left))),
      detail: 'too many failures from this address',
    })
  }

  return {
    async guard(address, guess) {
      if (limit === 0) return guess(() => {})
      const network = networkOf(address)
      const count = await reserve(network)
      let hasFailed = false
      try {
        return await guess(() => {
          hasFailed = true
        })
      } finally {
        count.pending -= 1
        if (hasFailed) addFailure(network, count)
        else if (count.failures === 0 && count.pending === 0 && count.waiting.length === 0) {
          counts.delete(network)
        }
        for (const wake of count.waiting.splice(0)) wake()
      }
    },
  }

  function addFailure(network: string, count: Count): void {
    const { failures } = countOf(network)
    count.begun = failures === 0 ? clock.uptime() : count.begun
    count.failures += 1
    remember(network, count)
  }
}
