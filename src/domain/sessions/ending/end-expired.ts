/**
 * A session whose time is over ends like every other: its tokens and certificates with it, and whoever follows the
 * feed is told, so that routers close what it has open. D-34, D-42, D-53.
 */
import { BATCH_ROWS } from '../../paging.ts'
import type { SessionPorts } from '../ports.ts'
import { endSessionsWithin } from './end-session.ts'
import type { EndingPorts } from './ports.ts'

/** One round; returns how many sessions it ended. Only the certain past counts (D-230): an ending cannot be undone. */
export function endExpired(
  ports: Pick<SessionPorts, keyof EndingPorts | 'past' | 'transaction'>,
): Promise<number> {
  return ports.transaction(async (tx) => {
    const sessions = await tx.apiSessions.takeExpired(ports.past(), BATCH_ROWS)
    await endSessionsWithin(ports, tx, { sessions }, 'expired', undefined)
    return sessions.length
  })
}
