/**
 * The registry of API sessions, for administrators: lists and ends both kinds. API 3.3, 4.7; D-34, R051. Never returns
 * a token.
 */

import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import type { Caller } from '../audit/events.ts'
import type { EnrolledPorts } from '../factors/second-factor.ts'
import type { ListQuery } from '../lists/list-query.ts'
import { BATCH_ROWS, type PageOf } from '../paging.ts'
import { orNotFound } from '../refusals.ts'
import { endSessionsWithin } from '../sessions/ending/end-session.ts'
import { existingSessions } from '../sessions/ending/existing-sessions.ts'
import type { EndingPorts } from '../sessions/ending/ports.ts'
import type { SessionPorts } from '../sessions/ports.ts'
import { describeSessions, type SessionDetail } from '../sessions/session-detail.ts'

type ReadPorts = EnrolledPorts &
  Pick<SessionPorts, 'brand' | 'clock' | 'apiSessions' | 'identities' | 'rules'>
type EndPorts = Pick<SessionPorts, keyof EndingPorts | 'transaction'>

const FIRST_BATCH: ListQuery = { limit: BATCH_ROWS, offset: 0 }

/** Live sessions of this identity, or of all, newest first unless the query has another order. */
export async function listSessions(
  ports: ReadPorts,
  of: IdentityId | undefined,
  query: ListQuery,
): Promise<PageOf<SessionDetail>> {
  const at = ports.clock.now()
  const { rows, totalCount } = await ports.apiSessions.list({ of, at }, query)
  return { rows: await describeSessions(ports, rows), totalCount }
}

/** Throws NOT_FOUND if there is no such identity. */
export async function listSessionsOf(
  ports: ReadPorts,
  identityId: IdentityId,
  query: ListQuery,
): Promise<PageOf<SessionDetail>> {
  orNotFound(await ports.identities.find(identityId))
  return listSessions(ports, identityId, query)
}

/** Throws NOT_FOUND. */
export async function findSession(ports: ReadPorts, id: ApiSessionId): Promise<SessionDetail> {
  const session = await ports.apiSessions.find(id)
  const isLive = session !== undefined && session.expiresAt > ports.clock.now()
  const [detail] = isLive ? await describeSessions(ports, [session]) : []
  return orNotFound(detail)
}

/** Throws NOT_FOUND. */
export async function endSessionById(
  ports: EndPorts,
  id: ApiSessionId,
  caller: Caller,
): Promise<void> {
  await ports.transaction(async (tx) => {
    const session = orNotFound(await tx.apiSessions.find(id))
    await endSessionsWithin(ports, tx, { sessions: [session] }, 'administrator', caller)
  })
}

/** Unfinished logins end with them. Throws NOT_FOUND. */
export async function endSessionsOf(
  ports: EndPorts & Pick<SessionPorts, 'identities'>,
  identityId: IdentityId,
  caller: Caller,
): Promise<void> {
  orNotFound(await ports.identities.find(identityId))
  await endMany(ports, identityId, caller)
}

/** The same for every identity, including the caller's own. */
export function endAllSessions(ports: EndPorts, caller: Caller): Promise<void> {
  return endMany(ports, undefined, caller)
}

/**
 * Ends all sessions that existed at the start. Logins in progress are voided first (D-226): each has begun its
 * session by then, or never will.
 */
async function endMany(ports: EndPorts, of: IdentityId | undefined, caller: Caller): Promise<void> {
  if (of === undefined) await voidAllLogins(ports)
  else await ports.transaction((tx) => tx.identities.voidLogins(of))
  const existing = await ports.transaction((tx) => existingSessions(tx, of, ports.clock.now()))
  for (let isMore = true; isMore; ) {
    await ports.transaction(async (tx) => {
      const { rows } = await tx.apiSessions.list(existing, FIRST_BATCH)
      isMore = rows.length === BATCH_ROWS
      await endSessionsWithin(ports, tx, { sessions: rows }, 'administrator', caller)
    })
  }
}

/** Administrators one at a time: other code locks several of them at once, in its own order (D-49). */
async function voidAllLogins({ transaction }: Pick<EndPorts, 'transaction'>): Promise<void> {
  for (const which of [
    { isAdmin: true, limit: 1 },
    { isAdmin: false, limit: BATCH_ROWS },
  ]) {
    let last: IdentityId | undefined
    do {
      last = await transaction((tx) => tx.identities.voidLoginsAfter(last, which))
    } while (last !== undefined)
  }
}
