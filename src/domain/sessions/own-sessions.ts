/**
 * A person's own API sessions, of both kinds: seen, and ended one by one or all but the one that asks. R051 for
 * administrators, this for everybody else (D-163). Never a token.
 */

import type { ApiSessionId } from '../../base/ids.ts'
import type { Caller } from '../audit/events.ts'
import { BATCH_ROWS, type PageOf } from '../paging.ts'
import { notFound } from '../refusals.ts'
import type { ApiSession } from './api-session.ts'
import { type CallSession, sessionGone } from './call-session.ts'
import { endSessionsWithin } from './ending/end-session.ts'
import type { EndingPorts } from './ending/ports.ts'
import type { SessionPorts } from './ports.ts'

type EndPorts = Pick<SessionPorts, keyof EndingPorts | 'brand' | 'transaction'>

/** Live ones, newest first, so many at most. */
export function listOwnSessions(
  { apiSessions, clock }: Pick<SessionPorts, 'apiSessions' | 'clock'>,
  { identityId: of }: CallSession,
  limit: number,
): Promise<PageOf<ApiSession>> {
  return apiSessions.list({ of, at: clock.now() }, { limit, offset: 0 })
}

/** Throws NOT_FOUND for a session that is somebody else's or gone. */
export async function endOwnSession(
  ports: EndPorts,
  call: CallSession,
  id: ApiSessionId,
  caller: Caller,
): Promise<void> {
  const { brand } = ports
  await ports.transaction(async (tx) => {
    // Who has just been put out ends nobody else's.
    if ((await tx.apiSessions.find(call.sessionId)) === undefined) throw sessionGone(brand, call)
    const session = await tx.apiSessions.find(id)
    if (session?.identityId !== call.identityId) throw notFound()
    await endSessionsWithin(ports, tx, { sessions: [session] }, 'holder', caller)
  })
}

/** Ends all current sessions and logins in progress, except the session of the call. */
export async function endOtherSessions(
  ports: EndPorts,
  call: CallSession,
  caller: Caller,
): Promise<void> {
  const { brand, transaction } = ports
  const { identityId: of, sessionId } = call
  // First, so that a login in progress has begun its session by now, or never will (D-226).
  await transaction(async (tx) => {
    if ((await tx.apiSessions.find(sessionId)) === undefined) throw sessionGone(brand, call)
    await tx.identities.voidLogins(of)
  })
  const at = ports.clock.now()
  for (let isMore = true; isMore; ) {
    await transaction(async (tx) => {
      if ((await tx.apiSessions.find(sessionId)) === undefined) throw sessionGone(brand, call)
      const query = { limit: BATCH_ROWS, offset: 0 }
      const { rows } = await tx.apiSessions.list({ of, at, createdUntil: at }, query)
      isMore = rows.length === BATCH_ROWS
      const sessions = rows.filter(({ id }) => id !== sessionId)
      await endSessionsWithin(ports, tx, { sessions }, 'holder', caller)
    })
  }
}
