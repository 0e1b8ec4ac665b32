/**
 * Removes what has expired, a little at a time, so that no table grows for ever and no statement holds the store for
 * long. Sessions are not among it: they end (`sessions/end-expired.ts`).
 */
import type { Clock } from '../base/clock.ts'
import { type Duration, days, minutes } from '../base/duration.ts'
import { minus } from '../base/instant.ts'
import type { Stores } from '../domain/stores.ts'

/** Rows a statement removes at the most. */
const BATCH = 500

/** A row outlives its end by this, so that an instance whose clock is behind still finds it. */
const GRACE: Duration = minutes(5)

/** D-102: how long audit events are kept. */
const EVENT_RETENTION: Duration = days(90)

type Swept = Pick<
  Stores,
  'authRequests' | 'refreshTokens' | 'sessionCertificates' | 'sessionEndings' | 'events'
>

/** One round. Answers how many rows it removed. */
export async function sweep(stores: Swept, clock: Clock): Promise<number> {
  const before = minus(clock.now(), GRACE)
  let removed = 0
  const { authRequests, refreshTokens, sessionCertificates, sessionEndings } = stores
  for (const table of [authRequests, refreshTokens, sessionCertificates, sessionEndings]) {
    removed += await table.removeExpired(before, BATCH)
  }
  removed += await stores.events.removeOlderThan(minus(clock.now(), EVENT_RETENTION), BATCH)
  return removed
}
