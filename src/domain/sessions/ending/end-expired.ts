/**
 * A session whose time is over ends like every other: its tokens and certificates with it, and whoever follows the
 * feed is told, so that routers close what it has open. D-34, D-42, D-53.
 */

import type { Instant } from '../../../base/time/instant.ts'
import { BATCH_ROWS } from '../../paging.ts'
import type { Transaction } from '../../stores.ts'
import type { EndSessionsWithin } from './end-session.ts'

/** One round; answers how many sessions it ended. */
export type EndExpired = () => Promise<number>

export function createEndExpired(deps: {
  /** The latest moment that is certainly past (D-230): an ending cannot be undone. */
  readonly past: () => Instant
  readonly transaction: Transaction
  readonly endSessionsWithin: EndSessionsWithin
}): EndExpired {
  const { past, transaction, endSessionsWithin } = deps
  return async () => {
    const { count, feelEnds } = await transaction(async (tx) => {
      const sessions = await tx.apiSessions.takeExpired(past(), BATCH_ROWS)
      const feelEnds = await endSessionsWithin(tx, { sessions }, 'expired', undefined)
      return { count: sessions.length, feelEnds }
    })
    feelEnds()
    return count
  }
}
