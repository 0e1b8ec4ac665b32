/**
 * Failed logins for each address: D-22. Generous, and only failures count: a crowd behind one address may log in as
 * often as it likes. In memory, for each instance by itself: it slows guessing down, the lock of the password stops it.
 */

import { parseAddress } from '../../base/network.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, inSeconds, milliseconds, minutes } from '../../base/time/duration.ts'
import { Failure } from '../../errors/catalogue.ts'

export interface AddressFailures {
  /** Throws RATE_LIMITED when the address has failed too often within the last minute. */
  check(address: string): void
  add(address: string): void
}

const WINDOW: Duration = minutes(1)

/** Addresses that are remembered at the most; the one that has not failed for the longest time goes first. */
const MOST_ADDRESSES = 100_000

interface Window {
  readonly begun: Duration
  readonly failures: number
}

export function createAddressFailures(deps: {
  /** Failures a minute; 0: no limit. */
  readonly limit: number
  readonly clock: Pick<Clock, 'uptime'>
}): AddressFailures {
  const { limit, clock } = deps
  /** In the order of the last failure. */
  const windows = new Map<string, Window>()

  function current(key: string): Window | undefined {
    const window = windows.get(key)
    return window !== undefined && clock.uptime() - window.begun < WINDOW ? window : undefined
  }

  return {
    check(address) {
      const window = current(networkOf(address))
      if (limit === 0 || window === undefined || window.failures < limit) return
      const left = milliseconds(window.begun + WINDOW - clock.uptime())
      throw new Failure('RATE_LIMITED', {
        retryAfterSeconds: Math.max(1, Math.ceil(inSeconds(left))),
        detail: 'too many failed logins from this address',
      })
    },

    add(address) {
      if (limit === 0) return
      const key = networkOf(address)
      const window = current(key) ?? { begun: clock.uptime(), failures: 0 }
      windows.delete(key)
      windows.set(key, { ...window, failures: window.failures + 1 })
      if (windows.size > MOST_ADDRESSES) {
        const [oldest] = windows.keys()
        if (oldest !== undefined) windows.delete(oldest)
      }
    },
  }
}

/** One customer has at least a /64 of IPv6; each address of it counted alone would be no limit at all. */
function networkOf(address: string): string {
  const bytes = parseAddress(address)
  if (bytes === undefined) return address
  return (bytes.length === 4 ? bytes : bytes.slice(0, 8)).join('.')
}
