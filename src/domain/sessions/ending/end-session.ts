/**
 * Ends API sessions early. Whatever the reason, everything of the session ends: D-34. On this instance immediately, on
 * every other within a second.
 */

import { readCertificates, validity } from '../../../base/certificates.ts'
import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Instant, later, plus } from '../../../base/time/instant.ts'
import type { Caller } from '../../audit/events.ts'
import type { SessionEndReason } from '../../audit/reasons.ts'
import { record } from '../../audit/record.ts'
import type { Authenticator } from '../../identities/authenticator.ts'
import { BATCH_ROWS } from '../../paging.ts'
import type { Stores, Transaction } from '../../stores.ts'
import { type ApiSession, endingOf, type SessionEnding } from '../api-session.ts'
import type { EndingPorts } from './ports.ts'

export interface SessionEnd {
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId
  readonly reason: SessionEndReason
  readonly caller: Caller
}

export async function endSession(
  ports: EndingPorts & { readonly transaction: Transaction },
  { sessionId, identityId, reason, caller }: SessionEnd,
): Promise<void> {
  // Record the ending even if there is no session: its insert may still be in progress.
  await ports.transaction((tx) => endOne(ports, tx, { id: sessionId, identityId }, reason, caller))
}

/** Everything that belongs to a session is deleted with it. */
type EndedStores =
  | 'apiSessions'
  | 'refreshTokens'
  | 'sessionCertificates'
  | 'sessionEndings'
  | 'events'

export interface EndedTogether {
  readonly sessions: readonly ApiSession[]
  /** Authenticators that are removed too: routers refuse their certificates from now on (D-42). */
  readonly authenticators?: readonly Authenticator[]
}

/**
 * Ends sessions in a transaction that also does something else, such as disabling their identity. The caller is
 * undefined if the sessions expired. After the commit the transaction itself updates this instance (`tell-copies.ts`).
 */
export async function endSessionsWithin(
  ports: EndingPorts,
  tx: Pick<Stores, EndedStores>,
  { sessions, authenticators = [] }: EndedTogether,
  reason: SessionEndReason,
  caller: Caller | undefined,
): Promise<void> {
  const inOrder = sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  for (let from = 0; from < inOrder.length; from += BATCH_ROWS) {
    const batch = inOrder.slice(from, from + BATCH_ROWS)
    if (batch.length > 1) await tx.apiSessions.holdAll(batch.map(({ id }) => id))
    // Sent together (D-299), so that the locks are held briefly: a refresh waits at most two seconds for that of its session.
    await Promise.all(batch.map((session) => endOne(ports, tx, session, reason, caller)))
  }
  for (const ending of authenticators.flatMap((one) => certificateEnding(one, ports.clock))) {
    await tx.sessionEndings.insert(ending)
  }
}

/**
 * D-117. Routers accept only certificates of our own PKI by themselves; others need a token that names them, and that
 * token ends.
 */
function certificateEnding(authenticator: Authenticator, clock: Clock): readonly SessionEnding[] {
  if (authenticator.method !== 'cert' || !authenticator.isIssuedByNetwork) return []
  const { renewal } = authenticator
  const certificates = renewal === undefined ? [authenticator] : [authenticator, renewal]
  return certificates.flatMap(({ certPem, fingerprint }) => {
    const [certificate] = readCertificates(certPem)
    if (certificate === undefined) return []
    const { notAfter } = validity(certificate)
    return [endingOf(`cert:${fingerprint}`, clock.now(), notAfter)]
  })
}

async function endOne(
  ports: EndingPorts,
  tx: Pick<Stores, EndedStores>,
  session: ApiSession | Pick<ApiSession, 'id' | 'identityId'>,
  reason: SessionEndReason,
  caller: Caller | undefined,
): Promise<void> {
  const { id: sessionId, identityId } = session
  const now = ports.clock.now()
  // Use the row as it was deleted: a refresh may have issued a longer token since it was read.
  const removed = (await tx.apiSessions.remove(sessionId)) ?? session
  await tx.refreshTokens.removeOf(sessionId)
  await tx.sessionCertificates.removeOf(sessionId)
  const ending = endingOf(
    sessionId,
    now,
    later(plus(now, ports.accessTokenLife), tokensEnd(removed, now)),
  )
  if (await tx.sessionEndings.insert(ending)) {
    await record(ports, tx, caller, { type: 'session.ended', identityId, sessionId, reason })
  }
}

/**
 * D-231: when the last access token of the session expires. That may be late if a longer lifetime was configured, here
 * or on another instance. Nothing else outlives a session: certificates count only together with a token, and
 * everything else is looked up.
 */
export function tokensEnd(
  session: ApiSession | Pick<ApiSession, 'id' | 'identityId'>,
  now: Instant,
): Instant {
  if (!('kind' in session) || session.kind === 'legacy') return now
  return session.tokensEndAt ?? session.expiresAt
}
