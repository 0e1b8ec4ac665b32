/**
 * Ends expired sessions like all others: with their tokens and certificates, and with an entry in the feed, so that
 * routers close their connections. D-34, D-42, D-53.
 */
import { type Duration, milliseconds, seconds } from '../../../base/time/duration.ts'
import { earlier, type Instant, plus } from '../../../base/time/instant.ts'
import { BATCH_ROWS } from '../../paging.ts'
import type { SessionPorts } from '../ports.ts'
import type { ApiSessions } from '../stores.ts'
import { endSessionsWithin } from './end-session.ts'
import type { EndingPorts } from './ports.ts'

/**
 * How long a look at the store is good for, if no session expires sooner (D-304). Shorter than the shortest life of a session,
 * one minute: a session that begins after the look is seen by the next one.
 */
const LOOK_AGAIN: Duration = seconds(30)

type ExpiryPorts = Pick<SessionPorts, keyof EndingPorts | 'past' | 'transaction'> & {
  readonly apiSessions: Pick<ApiSessions, 'firstExpiry'>
}

export interface EndExpired {
  /** Returns how many sessions it ended. */
  round(): Promise<number>
  /** How long no session that is known expires; undefined if the next round must look. */
  dueIn(): Duration | undefined
}

/**
 * Its round is to be called when a session is due, and about once a second, because the clock can be set. It reads the
 * store only when a session may have expired: an idle service must not wake the disk (D-304).
 */
export function createEndExpired(ports: ExpiryPorts): EndExpired {
  let due: Instant | undefined
  return {
    async round() {
      const past = ports.past()
      // If the clock was set back, what is due was computed with a wrong time.
      if (due !== undefined && past < due && due <= plus(past, LOOK_AGAIN)) return 0
      const first = await ports.apiSessions.firstExpiry()
      const again = plus(past, LOOK_AGAIN)
      if (first === undefined || first > past) {
        due = first === undefined ? again : earlier(first, again)
        return 0
      }
      const ended = await endExpired(ports)
      // The next session may expire at any moment, or this was only a part of those that have expired.
      due = undefined
      return ended
    },
    dueIn: () => (due === undefined ? undefined : milliseconds(due - ports.past())),
  }
}

/**
 * Runs one round and returns how many sessions it ended. Uses only the certain past (D-230): an ending cannot be
 * undone.
 */
function endExpired(ports: ExpiryPorts): Promise<number> {
  return ports.transaction(async (tx) => {
    const sessions = await tx.apiSessions.takeExpired(ports.past(), BATCH_ROWS)
    await endSessionsWithin(ports, tx, { sessions }, 'expired', undefined)
    return sessions.length
  })
}
