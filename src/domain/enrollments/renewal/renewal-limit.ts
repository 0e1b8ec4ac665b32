/**
 * Limits how often a certificate may be renewed: D-130. Every instance and router must remember an unconfirmed renewal
 * for a year. Counted in memory, separately on each instance, for all its processes together (D-290).
 */
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import type { AuthenticatorId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, hours, inSeconds, milliseconds } from '../../../base/time/duration.ts'
import { Failure } from '../../../errors/catalogue.ts'

/** Counts one renewal. Throws RATE_LIMITED if there were too many within the hour. */
export type CountRenewal = (id: AuthenticatorId) => Promise<void>

const WINDOW: Duration = hours(1)
const MOST_IN_WINDOW = 10

const MOST_REMEMBERED = 100_000

export function createCountRenewal({
  clock,
}: {
  readonly clock: Pick<Clock, 'uptime'>
}): CountRenewal {
  const windows = new BoundedMap<AuthenticatorId, { readonly begun: Duration; count: number }>(
    MOST_REMEMBERED,
  )
  return async (id) => {
    const now = clock.uptime()
    const before = windows.get(id)
    const window =
      before !== undefined && now - before.begun < WINDOW ? before : { begun: now, count: 0 }
    if (window.count >= MOST_IN_WINDOW) {
      const left = inSeconds(milliseconds(window.begun + WINDOW - now))
      throw new Failure('RATE_LIMITED', {
        retryAfterSeconds: Math.max(1, Math.ceil(left)),
        detail: 'too many renewals of this certificate',
      })
    }
    window.count += 1
    windows.set(id, window)
  }
}
