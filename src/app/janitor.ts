/**
 * Removes what has expired, a little at a time, so that no table grows for ever and no statement holds the store for
 * long. Sessions are not among it: they end (`sessions/end-expired.ts`).
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Duration, days, minutes } from '../base/time/duration.ts'
import { type Instant, minus } from '../base/time/instant.ts'
import { BATCH_ROWS } from '../domain/paging.ts'
import type { Stores } from '../domain/stores.ts'

/** A row outlives its end by this, so that an instance whose clock is behind still finds it. */
const GRACE: Duration = minutes(5)

/** D-125: for so long after its end, a token is told apart from one that nobody was given. */
const ENROLLMENT_GRACE: Duration = days(30)

/** D-134: of events, which a busy service makes faster than anything else, a round removes as many as this often. */
const EVENT_BATCHES = 40
/** Whoever waits for the store gets it between two of them. */
const BETWEEN_BATCHES_MILLISECONDS = 10

type Swept = Pick<
  Stores,
  | 'authRequests'
  | 'spentStates'
  | 'refreshTokens'
  | 'sessionCertificates'
  | 'sessionEndings'
  | 'passwordFailures'
  | 'enrollments'
  | 'events'
>

/** One round. Answers how many rows it removed. */
export async function sweep(
  stores: Swept,
  /**
   * The latest moment that is certainly past (D-230): deleted rows do not come back when a wrong clock is corrected.
   */
  past: Instant,
  /** `edge.audit.retention`. */
  eventRetention: Duration,
): Promise<number> {
  const before = minus(past, GRACE)
  let removed = 0
  const short = [
    stores.authRequests,
    stores.spentStates,
    stores.refreshTokens,
    stores.sessionCertificates,
    stores.sessionEndings,
    stores.passwordFailures,
  ]
  for (const table of short) {
    removed += await table.removeExpired(before, BATCH_ROWS)
  }
  const long = minus(past, ENROLLMENT_GRACE)
  removed += await stores.enrollments.removeExpired(long, BATCH_ROWS)
  return removed + (await removeOldEvents(stores.events, minus(past, eventRetention)))
}

/** Answers how many it removed; what is left is for the next round. */
export async function removeOldEvents(
  events: Pick<Stores['events'], 'removeOlderThan'>,
  before: Instant,
): Promise<number> {
  let removed = 0
  for (let batch = 0; batch < EVENT_BATCHES; batch++) {
    const count = await events.removeOlderThan(before, BATCH_ROWS)
    removed += count
    if (count < BATCH_ROWS) break
    await pause(BETWEEN_BATCHES_MILLISECONDS)
  }
  return removed
}
