/**
 * What can be read about a session: by its own caller and by administrators alike. API 4.7. What is outstanding is
 * computed when it is asked for, since policies and enrollments change.
 */
import type { IdentityId } from '../../base/ids.ts'
import { type AuthQuery, totpQuery } from '../../protocol/auth-query.ts'
import { type Identity, ownersOf } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { ApiSession } from './api-session.ts'
import type { SessionPorts } from './ports.ts'

export interface SessionDetail {
  readonly session: ApiSession
  readonly identity: Identity
  /** SPEC Authentication Query. */
  readonly authQueries: readonly AuthQuery[]
  readonly isMfaRequired: boolean
  readonly isMfaComplete: boolean
}

/**
 * Two queries for any number of sessions. A session whose identity or policy is gone is left out: it is about to be
 * deleted, too.
 */
export async function describeSessions(
  ports: Pick<SessionPorts, 'brand' | 'identities' | 'totpEnrollments' | 'rules'>,
  sessions: readonly ApiSession[],
): Promise<readonly SessionDetail[]> {
  const { brand, identities, totpEnrollments, rules } = ports
  const owners = await identities.findMany(ownersOf(sessions))
  const known = sessions.flatMap((session) => {
    const identity = owners.get(session.identityId)
    const policy = identity && rules.policy(identity.authPolicyId)
    if (identity === undefined || policy === undefined) return []
    return [{ session, identity, policy, isOpen: isTotpOpen(session, policy) }]
  })
  const asked = known.filter(({ isOpen }) => isOpen).map(({ session }) => session)
  const enrolled = asked.length === 0 ? NOBODY : await totpEnrollments.listVerified(ownersOf(asked))
  return known.map(({ session, identity, policy, isOpen }) => ({
    session,
    identity,
    authQueries: isOpen ? [totpQuery(brand, 'legacy', enrolled.has(identity.id))] : [],
    isMfaRequired: isTotpDemanded(session, policy) || session.secondary.totp,
    isMfaComplete: !isOpen,
  }))
}

const NOBODY: ReadonlySet<IdentityId> = new Set()

/** D-52: by the login, or by a policy that has begun to demand it since. */
function isTotpDemanded(session: ApiSession, policy: AuthPolicy): boolean {
  return policy.secondary.requireTotp || (session.kind === 'legacy' && session.isTotpDemanded)
}

/** A code is outstanding. An OIDC session without it is refused on every call, and cannot make up for it (D-52). */
export function isTotpOpen(session: ApiSession, policy: AuthPolicy): boolean {
  return isTotpDemanded(session, policy) && !session.secondary.totp
}
