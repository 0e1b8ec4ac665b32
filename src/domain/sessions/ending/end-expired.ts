/**
 * Ends expired sessions like all others: with their tokens and certificates, and with an entry in the feed, so that
 * routers close their connections. D-34, D-42, D-53.
 */
import { BATCH_ROWS } from '../../paging.ts'
import type { SessionPorts } from '../ports.ts'
import { endSessionsWithin } from './end-session.ts'
import type { EndingPorts } from './ports.ts'

/**
 * Runs one round and returns how many sessions it ended. Uses only the certain past (D-230): an ending cannot be
 * undone.
 */
export function endExpired(
  ports: Pick<SessionPorts, keyof EndingPorts | 'past' | 'transaction'>,
): Promise<number> {
  return ports.transaction(async (tx) => {
    const sessions = await tx.apiSessions.takeExpired(ports.past(), BATCH_ROWS)
    await endSessionsWithin(ports, tx, { sessions }, 'expired', undefined)
    return sessions.length
  })
}
