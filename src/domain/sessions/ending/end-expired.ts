/**
 * A session whose time is over ends like every other: its tokens and certificates with it, and whoever follows the
 * feed is told, so that routers close what it has open. D-34, D-42, D-53.
 */
import type { Clock } from '../../../base/time/clock.ts'
import type { Transaction } from '../../stores.ts'
import type { EndSessionsWithin } from './end-session.ts'

/** One round; answers how many sessions it ended. */
export type EndExpired = () => Promise<number>

/** So many end in one transaction; others may write in between. */
const BATCH = 500

export function createEndExpired(deps: {
  readonly clock: Pick<Clock, 'now'>
  readonly transaction: Transaction
  readonly endSessionsWithin: EndSessionsWithin
}): EndExpired {
  const { clock, transaction, endSessionsWithin } = deps
  return async () => {
    const { count, feelEnds } = await transaction(async (tx) => {
      const sessions = await tx.apiSessions.takeExpired(clock.now(), BATCH)
      const feelEnds = await endSessionsWithin(tx, { sessions }, 'expired', undefined)
      return { count: sessions.length, feelEnds }
    })
    feelEnds()
    return count
  }
}
