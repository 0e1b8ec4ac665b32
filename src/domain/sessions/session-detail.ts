/**
 * What can be read about a session: by its own caller and by administrators alike. API 4.7. What is outstanding is
 * computed when it is asked for, since policies and enrollments change.
 */
import { type AuthQuery, totpQuery } from '../../protocol/auth-query.ts'
import type { TotpEnrollments } from '../factors/stores.ts'
import type { Identity } from '../identities/identity.ts'
import type { Identities } from '../identities/stores.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { Rules } from '../policies/rules.ts'
import type { ApiSession } from './api-session.ts'

export interface SessionDetail {
  readonly session: ApiSession
  readonly identity: Identity
  /** SPEC Authentication Query. */
  readonly authQueries: readonly AuthQuery[]
  readonly isMfaRequired: boolean
  readonly isMfaComplete: boolean
}

/** Undefined when the identity or its policy is gone, and the session with them. */
export type DescribeSession = (session: ApiSession) => Promise<SessionDetail | undefined>

export function createDescribeSession(deps: {
  readonly brand: string
  readonly identities: Pick<Identities, 'find'>
  readonly totpEnrollments: Pick<TotpEnrollments, 'find'>
  readonly rules: Pick<Rules, 'policy'>
}): DescribeSession {
  return async (session) => {
    const identity = await deps.identities.find(session.identityId)
    const policy = identity && deps.rules.policy(identity.authPolicyId)
    if (identity === undefined || policy === undefined) return undefined
    const isOpen = isTotpOpen(session, policy)
    const enrollment = isOpen ? await deps.totpEnrollments.find(identity.id) : undefined
    const isEnrolled = enrollment?.isVerified === true
    return {
      session,
      identity,
      authQueries: isOpen ? [totpQuery(deps.brand, 'legacy', isEnrolled)] : [],
      isMfaRequired: isTotpDemanded(session, policy) || session.secondary.totp,
      isMfaComplete: !isOpen,
    }
  }
}

/** D-52: by the login, or by a policy that has begun to demand it since. */
function isTotpDemanded(session: ApiSession, policy: AuthPolicy): boolean {
  return policy.secondary.requireTotp || (session.kind === 'legacy' && session.isTotpDemanded)
}

/** A code is outstanding. An OIDC session without it is refused on every call, and cannot make up for it (D-52). */
export function isTotpOpen(session: ApiSession, policy: AuthPolicy): boolean {
  return isTotpDemanded(session, policy) && !session.secondary.totp
}
