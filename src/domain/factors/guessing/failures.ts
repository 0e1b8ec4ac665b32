/**
 * Counts failures of one kind for each network: D-22. The limit is generous, and only failures count: any number of
 * users behind one address can log in. The counts are in memory, separately in each instance: they slow down guessing
 * at many names, while guesses at one name are counted in the database. Each kind of guessable secret has its own
 * counts.
 *
 * A failure is reserved before the guess is checked, so that parallel guesses cannot exceed the limit together.
 */
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
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

/** The most networks to remember; the one that was not heard of for the longest time is removed first. */
const MOST_NETWORKS = 100_000

/**
 * The most waiting guesses per network. A guess waits only if the network sent more at once than may fail in a minute.
 */
const MOST_WAITING = 64

interface Count {
  startedAt: Duration
  failures: number
  /** Reserved by guesses that are being checked. */
  pending: number
  readonly waiting: (() => void)[]
}

export function createAddressFailures(deps: {
  /** Failures per minute; 0 means no limit. */
  readonly limit: number
  readonly clock: Pick<Clock, 'uptime'>
}): AddressFailures {
  const { limit, clock } = deps
  const counts = new BoundedMap<string, Count>(MOST_NETWORKS)

  function countOf(network: string): Count {
    const count = counts.get(network) ?? fresh()
    if (clock.uptime() - count.startedAt >= WINDOW) {
      count.startedAt = clock.uptime()
      count.failures = 0
    }
    return count
  }

  function fresh(): Count {
    return { startedAt: clock.uptime(), failures: 0, pending: 0, waiting: [] }
  }

  async function reserve(network: string): Promise<Count> {
    for (;;) {
      const count = countOf(network)
      if (count.failures >= limit) throw limited(count)
      if (count.failures + count.pending < limit) {
        count.pending += 1
        counts.set(network, count)
        return count
      }
      if (count.waiting.length >= MOST_WAITING) {
        const detail = 'too many guesses from one address are waiting to be checked'
        throw new Failure('SERVER_TOO_BUSY', { retryAfterSeconds: 1, detail })
      }
      await new Promise<void>((resolve) => count.waiting.push(resolve))
    }
  }

  function limited({ startedAt }: Count): Failure {
    const left = milliseconds(startedAt + WINDOW - clock.uptime())
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
    count.startedAt = failures === 0 ? clock.uptime() : count.startedAt
    count.failures += 1
    counts.set(network, count)
  }
}
