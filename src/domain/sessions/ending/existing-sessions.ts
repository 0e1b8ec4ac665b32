/**
 * Which sessions end when all of them do: those that exist now, whatever a clock says (D-470). The clock of another
 * instance may be ahead, and so may this one's have been, or be.
 */
import type { IdentityId } from '../../../base/ids.ts'
import { type Instant, instant, later } from '../../../base/time/instant.ts'
import type { Stores } from '../../stores.ts'
import type { ApiSessions } from '../stores.ts'

/** No session had expired by then. So one that only seems to have expired is among them (R115). */
const BEFORE_ALL = instant(0)

/**
 * For `ApiSessions.list`, after logins in progress were voided (D-226). A session that begins later is not among them,
 * unless a clock was ahead.
 */
export async function existingSessions(
  tx: Pick<Stores, 'apiSessions'>,
  of: IdentityId | undefined,
  now: Instant,
): Promise<Parameters<ApiSessions['list']>[0]> {
  const which = { of, at: BEFORE_ALL }
  // Newest first.
  const { rows } = await tx.apiSessions.list(which, { limit: 1, offset: 0 })
  return { ...which, createdUntil: later(now, rows[0]?.createdAt ?? now) }
}
