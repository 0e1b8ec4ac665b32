/**
 * Deletes expired rows in small batches, so that no table grows without bound and no statement blocks the store for
 * long. Sessions are not included: `sessions/end-expired.ts` ends them.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Duration, days, minutes } from '../base/time/duration.ts'
import { type Instant, minus } from '../base/time/instant.ts'
import { SAMPLES_KEPT } from '../domain/overview/session-samples.ts'
import { BATCH_ROWS } from '../domain/paging.ts'
import type { Stores } from '../domain/stores.ts'

/** Rows are kept this long after they expire, so that an instance whose clock is behind still finds them. */
const GRACE: Duration = minutes(5)

/** D-125: how long after its end a token can be told apart from one that was never issued. */
const ENROLLMENT_GRACE: Duration = days(30)

/** D-368: how long the overview shows an instance that was not seen. */
const INSTANCE_GRACE: Duration = days(1)

/** How long lists show the last contact of a router that is gone. */
const ROUTER_GRACE: Duration = days(90)

/** D-134: how many batches of events or used proofs a round deletes, because a busy service creates them faster than other rows. */
const EVENT_BATCHES = 40
/** Pause between batches, so that other callers can use the store. */
const BETWEEN_BATCHES_MILLISECONDS = 10

/** Runs one round. Returns how many rows it deleted. */
export async function sweep(
  stores: Stores,
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
    stores.deviceCodes,
    stores.refreshTokens,
    stores.sessionCertificates,
    stores.sessionEndings,
    stores.passwordFailures,
  ]
  for (const table of short) {
    removed += await table.removeExpired(before, BATCH_ROWS)
  }
  // Every call with a DPoP token adds one, so there are as many as events.
  removed += await removeInBatches((limit) => stores.usedProofs.removeExpired(before, limit))
  const long = minus(past, ENROLLMENT_GRACE)
  removed += await stores.enrollments.removeExpired(long, BATCH_ROWS)
  removed += await stores.instances.removeExpired(minus(past, INSTANCE_GRACE), BATCH_ROWS)
  removed += await stores.sessionSamples.removeExpired(minus(past, SAMPLES_KEPT), BATCH_ROWS)
  removed += await stores.routerRuns.removeExpired(minus(past, ROUTER_GRACE), BATCH_ROWS)
  // The ledger of a session shows them beside its events (D-384).
  const oldEvents = minus(past, eventRetention)
  removed += await stores.sessionContacts.removeExpired(oldEvents, BATCH_ROWS)
  return removed + (await removeOldEvents(stores.events, oldEvents))
}

/** Returns how many it deleted; the next round deletes the rest. */
export async function removeOldEvents(
  events: Pick<Stores['events'], 'removeOlderThan'>,
  before: Instant,
): Promise<number> {
  return removeInBatches((limit) => events.removeOlderThan(before, limit))
}

async function removeInBatches(remove: (limit: number) => Promise<number>): Promise<number> {
  let removed = 0
  for (let batch = 0; batch < EVENT_BATCHES; batch++) {
    const count = await remove(BATCH_ROWS)
    removed += count
    if (count < BATCH_ROWS) break
    await pause(BETWEEN_BATCHES_MILLISECONDS)
  }
  return removed
}
