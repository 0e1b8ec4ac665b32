/**
 * A user's own API sessions, of both kinds: lists them, and ends one of them or all except the session of the call.
 * R051 is for administrators, this for all other users (D-163). Never returns a token.
 */

import type { ApiSessionId } from '../../base/ids.ts'
import type { Caller } from '../audit/events.ts'
import type { SessionEndReason } from '../audit/reasons.ts'
import { BATCH_ROWS, type PageOf } from '../paging.ts'
import { notFound } from '../refusals.ts'
import type { Stores } from '../stores.ts'
import type { ApiSession } from './api-session.ts'
import { type CallSession, findCallSession, holdSession } from './call-session.ts'
import { type EndedTogether, endSessionsWithin } from './ending/end-session.ts'
import { existingSessions } from './ending/existing-sessions.ts'
import type { EndingPorts } from './ending/ports.ts'
import type { SessionPorts } from './ports.ts'

type EndPorts = Pick<SessionPorts, keyof EndingPorts | 'brand' | 'transaction'>

/** Live sessions, newest first, up to a limit. */
export function listOwnSessions(
  { apiSessions, clock }: Pick<SessionPorts, 'apiSessions' | 'clock'>,
  { identityId: of }: CallSession,
  limit: number,
): Promise<PageOf<ApiSession>> {
  return apiSessions.list({ of, at: clock.now() }, { limit, offset: 0 })
}

/** Throws NOT_FOUND if the session has ended or belongs to another identity. */
export async function endOwnSession(
  ports: EndPorts,
  call: CallSession,
  id: ApiSessionId,
  caller: Caller,
): Promise<void> {
  await ports.transaction(async (tx) => {
    // A caller whose own session has just ended must not end others.
    await findCallSession(ports, tx, call)
    const session = await tx.apiSessions.find(id)
    if (session?.identityId !== call.identityId) throw notFound()
    await endInSession(ports, tx, call, { sessions: [session] }, 'holder', caller)
  })
}

/** Ends all current sessions and logins in progress, except the session of the call. */
export async function endOtherSessions(
  ports: EndPorts,
  call: CallSession,
  caller: Caller,
): Promise<void> {
  const { transaction } = ports
  const { identityId: of, sessionId } = call
  // Do this first: a login in progress has either begun its session by now, or never will (D-226).
  await transaction(async (tx) => {
    await tx.identities.voidLogins(of)
    await holdSession(ports, tx, call)
  })
  const existing = await transaction((tx) => existingSessions(tx, of, ports.clock.now()))
  for (let isMore = true; isMore; ) {
    await transaction(async (tx) => {
      await findCallSession(ports, tx, call)
      const query = { limit: BATCH_ROWS, offset: 0 }
      const { rows } = await tx.apiSessions.list(existing, query)
      isMore = rows.length === BATCH_ROWS
      const sessions = rows.filter(({ id }) => id !== sessionId)
      await endInSession(ports, tx, call, { sessions }, 'holder', caller)
    })
  }
}

/**
 * Ends sessions for the session of the call, which is locked in its turn (D-485): so it has not ended before the transaction
 * commits. Throws UNAUTHORIZED if it has.
 */
export async function endInSession(
  ports: EndingPorts & Pick<SessionPorts, 'brand'>,
  tx: Stores,
  call: CallSession,
  { sessions }: Pick<EndedTogether, 'sessions'>,
  reason: SessionEndReason,
  caller: Caller,
): Promise<void> {
  const { sessionId } = call
  const before = sessions.filter(({ id }) => id < sessionId)
  await endSessionsWithin(ports, tx, { sessions: before }, reason, caller)
  await holdSession(ports, tx, call)
  const rest = sessions.filter(({ id }) => id >= sessionId)
  await endSessionsWithin(ports, tx, { sessions: rest }, reason, caller)
}
