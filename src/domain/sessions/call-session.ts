/** What an API call knows about its caller, whatever the credential. SPEC Access token; D-34, D-36. */
import type { ApiSessionId, AuthPolicyId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { bearerInvalid, ztSessionInvalid } from '../../protocol/challenge.ts'
import type { Stores } from '../stores.ts'
import type { ApiSession } from './api-session.ts'

export interface CallSession {
  readonly kind: 'oidc' | 'legacy'
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId
  readonly isAdmin: boolean
  readonly authPolicyId: AuthPolicyId
  readonly configTypes: readonly string[]
  /** When the token or the idle session expires (D-39, D-53). */
  readonly expiresAt: Instant
  /** The failure for all calls that do not complete the login; undefined if nothing is outstanding (D-51). */
  readonly isPartial: Failure | undefined
}

/**
 * How much of its login a call must have completed: all of it; less, to complete a legacy login (D-51); or only the
 * primary factor, to log out (D-52).
 */
export type CallNeeds = 'full' | 'partial' | 'logout'

/** For a session that has just ended: the store already shows it, the copy in memory did not yet (D-35). */
export function sessionGone(brand: string, { kind }: Pick<CallSession, 'kind'>): Failure {
  return new Failure('UNAUTHORIZED', {
    challenges: [kind === 'oidc' ? bearerInvalid(brand) : ztSessionInvalid()],
    detail: 'the session or its identity is gone',
  })
}

/** Returns what a look-up for the caller found. Throws UNAUTHORIZED if it found nothing. */
export function orSessionGone<T>(
  { brand }: { readonly brand: string },
  call: Pick<CallSession, 'kind'>,
  found: T | undefined,
): T {
  if (found === undefined) throw sessionGone(brand, call)
  return found
}

/** Locks the session of the call, so that it has not ended before the transaction commits. Throws UNAUTHORIZED if it has. */
export async function holdSession(
  ports: { readonly brand: string },
  { apiSessions }: Pick<Stores, 'apiSessions'>,
  call: Pick<CallSession, 'sessionId' | 'kind'>,
): Promise<ApiSession> {
  return orSessionGone(ports, call, await apiSessions.hold(call.sessionId))
}

/** Reads the session of the call without a lock. Throws UNAUTHORIZED if it has ended. */
export async function findCallSession(
  ports: { readonly brand: string },
  { apiSessions }: Pick<Stores, 'apiSessions'>,
  call: Pick<CallSession, 'sessionId' | 'kind'>,
): Promise<ApiSession> {
  return orSessionGone(ports, call, await apiSessions.find(call.sessionId))
}
