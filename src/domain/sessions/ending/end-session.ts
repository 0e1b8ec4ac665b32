/**
 * Ends API sessions before their time. Whatever ends one, everything ends: D-34. On this instance at once, on
 * every other within a second.
 */

import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Duration } from '../../../base/time/duration.ts'
import { type Instant, later, plus } from '../../../base/time/instant.ts'
import type { Caller, SessionEndReason } from '../../audit/events.ts'
import type { RecordEvent } from '../../audit/record.ts'
import { readCertificates, validity } from '../../certificates/certificate-chain.ts'
import type { Authenticator } from '../../identities/authenticator.ts'
import type { Stores, Transaction } from '../../stores.ts'
import { type ApiSession, endingOf, type SessionEnding } from '../api-session.ts'
import type { EndedSessions } from './ended-sessions.ts'

export type EndSession = (end: {
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId
  readonly reason: SessionEndReason
  readonly caller: Caller
}) => Promise<void>

/**
 * Ends sessions in a transaction that does something else too, such as disabling their identity. Answers what to do
 * once that has committed: to feel the ends on this instance at once.
 */
export type EndSessionsWithin = (
  tx: Pick<Stores, EndedStores>,
  ending: {
    readonly sessions: readonly ApiSession[]
    /** Removed with them: routers refuse their certificates from now on (D-42). */
    readonly authenticators?: readonly Authenticator[]
  },
  reason: SessionEndReason,
  /** Undefined: nobody did it, its time was over. */
  caller: Caller | undefined,
) => Promise<() => void>

/** Whatever belongs to a session goes with it. */
type EndedStores =
  | 'apiSessions'
  | 'refreshTokens'
  | 'sessionCertificates'
  | 'sessionEndings'
  | 'events'

interface Dependencies {
  readonly clock: Clock
  readonly endedSessions: Pick<EndedSessions, 'add'>
  readonly recordEvent: RecordEvent
  /** No token that is signed from now on lives longer than this. */
  readonly accessTokenLife: Duration
}

export function createEndSession(
  deps: Dependencies & { readonly transaction: Transaction },
): EndSession {
  return async ({ sessionId, identityId, reason, caller }) => {
    // Record the ending even if there is no session: its insert may still be in progress.
    const ending = await deps.transaction((tx) =>
      endOne(deps, tx, { id: sessionId, identityId }, reason, caller),
    )
    deps.endedSessions.add(ending)
  }
}

export function createEndSessionsWithin(deps: Dependencies): EndSessionsWithin {
  return async (tx, { sessions, authenticators = [] }, reason, caller) => {
    const endings: SessionEnding[] = []
    for (const session of sessions) {
      endings.push(await endOne(deps, tx, session, reason, caller))
    }
    for (const ending of authenticators.flatMap((one) => certificateEnding(one, deps.clock))) {
      await tx.sessionEndings.insert(ending)
      endings.push(ending)
    }
    return () => {
      for (const ending of endings) deps.endedSessions.add(ending)
    }
  }
}

/** D-117. Only certificates of our own PKI open a router by themselves; others do by a token that names them, and it ends. */
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
  { clock, recordEvent, accessTokenLife }: Dependencies,
  tx: Pick<Stores, EndedStores>,
  session: ApiSession | Pick<ApiSession, 'id' | 'identityId'>,
  reason: SessionEndReason,
  caller: Caller | undefined,
): Promise<SessionEnding> {
  const { id: sessionId, identityId } = session
  const now = clock.now()
  // Use the row as it was deleted: a refresh may have issued a longer token since it was read.
  const removed = (await tx.apiSessions.remove(sessionId)) ?? session
  await tx.refreshTokens.removeOf(sessionId)
  await tx.sessionCertificates.removeOf(sessionId)
  const ending = endingOf(
    sessionId,
    now,
    later(plus(now, accessTokenLife), tokensEnd(removed, now)),
  )
  if (await tx.sessionEndings.insert(ending)) {
    const ended = { type: 'session.ended', identityId, sessionId, reason } as const
    await tx.events.insert(recordEvent(caller, ended))
  }
  return ending
}

/**
 * D-231: when the last access token of the session expires. That may be late if a longer lifetime was configured, here
 * or on another instance. Nothing else outlives a session: certificates count only together with a token, and
 * everything else is looked up.
 */
function tokensEnd(
  session: ApiSession | Pick<ApiSession, 'id' | 'identityId'>,
  now: Instant,
): Instant {
  if (!('kind' in session) || session.kind === 'legacy') return now
  return session.tokensEndAt ?? session.expiresAt
}
