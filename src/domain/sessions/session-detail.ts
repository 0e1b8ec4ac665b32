/**
 * What the session's own caller and administrators can read about a session. API 4.7. What is outstanding is computed
 * on every read, since policies and enrollments change.
 */
import type { IdentityId } from '../../base/ids.ts'
import type { AuthQuery } from '../../protocol/auth-query.ts'
import {
  demandedChoices,
  type FactorChoice,
  type SecondFactorId,
  unmetFactors,
  withoutImplied,
} from '../../protocol/factors/second-factors.ts'
import type { EnrolledPorts } from '../factors/second-factor.ts'
import { ALL_SECOND_FACTORS, secondFactor } from '../factors/second-factors.ts'
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
 * Runs two queries for any number of sessions. Leaves out a session whose identity or policy was deleted: it is about
 * to be deleted too.
 */
export async function describeSessions(
  ports: EnrolledPorts & Pick<SessionPorts, 'brand' | 'identities' | 'rules'>,
  sessions: readonly ApiSession[],
): Promise<readonly SessionDetail[]> {
  const { brand, identities, rules } = ports
  const owners = await identities.findMany(ownersOf(sessions))
  const known = sessions.flatMap((session) => {
    const identity = owners.get(session.identityId)
    const policy = identity && rules.policy(identity.authPolicyId)
    if (identity === undefined || policy === undefined) return []
    return [{ session, identity, policy, open: openFactors(session, policy) }]
  })
  const enrolled = new Map<SecondFactorId, ReadonlySet<IdentityId>>()
  for (const { id, listEnrolled } of ALL_SECOND_FACTORS) {
    const asked = known.filter(({ open }) => open.includes(id)).map(({ session }) => session)
    if (asked.length > 0) enrolled.set(id, await listEnrolled(ports, ownersOf(asked)))
  }
  return known.map(({ session, identity, policy, open }) => ({
    session,
    identity,
    authQueries: open.map((id) =>
      secondFactor(id).query(brand, 'legacy', enrolled.get(id)?.has(identity.id) === true),
    ),
    isMfaRequired: choicesOf(session, policy).length > 0 || session.secondary.factors.size > 0,
    isMfaComplete: open.length === 0,
  }))
}

/**
 * D-52: demanded at the login, or by a policy that has changed since. Of the factors that the identity had enrolled at
 * the login, one is enough, unless the policy says more (D-432).
 */
function choicesOf(session: ApiSession, policy: AuthPolicy): readonly FactorChoice[] {
  const before =
    session.kind === 'legacy' && session.demanded.size > 0 ? [[...session.demanded]] : []
  return withoutImplied([...before, ...demandedChoices(policy.secondary)])
}

/** What is outstanding. An OIDC session that lacks a factor is refused on every call and cannot add it later (D-52). */
export function openFactors(session: ApiSession, policy: AuthPolicy): readonly SecondFactorId[] {
  return unmetFactors(choicesOf(session, policy), (id) => session.secondary.factors.has(id))
}
