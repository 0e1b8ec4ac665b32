/** What administrators see of identities and authenticators. API 3.3, 4.1, 4.2. Reads only. */

import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Enrollment } from '../enrollments/enrollment.ts'
import type { EnrolledPorts } from '../factors/second-factor.ts'
import { listWithAnyFactor } from '../factors/second-factors.ts'
import type { Authenticator, AuthenticatorDetail } from '../identities/authenticator.ts'
import { type Identity, ownersOf } from '../identities/identity.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { orNotFound } from '../refusals.ts'
import type { Stores } from '../stores.ts'

export interface IdentityDetail {
  readonly identity: Identity
  readonly policy: Pick<AuthPolicy, 'id' | 'name'>
  readonly authenticators: readonly Authenticator[]
  /** Unused ones, including expired ones. */
  readonly enrollments: readonly Enrollment[]
  readonly isMfaEnabled: boolean
  readonly hasApiSession: boolean
}

export interface ReadPorts
  extends EnrolledPorts,
    Pick<Stores, 'identities' | 'authenticators' | 'enrollments' | 'authPolicies' | 'apiSessions'> {
  readonly clock: Pick<Clock, 'now'>
}

/** Throws NOT_FOUND. */
export async function findIdentity(ports: ReadPorts, id: IdentityId): Promise<IdentityDetail> {
  const [detail] = await describeIdentities(ports, [orNotFound(await ports.identities.find(id))])
  return detail as IdentityDetail
}

export async function listIdentities(
  ports: ReadPorts,
  query: ListQuery,
): Promise<PageOf<IdentityDetail>> {
  const { rows, totalCount } = await ports.identities.list(query)
  return { rows: await describeIdentities(ports, rows), totalCount }
}

/** Throws NOT_FOUND. */
export async function listAuthenticatorsOf(
  ports: Pick<ReadPorts, 'identities' | 'authenticators'>,
  id: IdentityId,
  query: ListQuery,
): Promise<PageOf<AuthenticatorDetail>> {
  const identity = orNotFound(await ports.identities.find(id))
  const { rows, totalCount } = listInMemory(await ports.authenticators.listOf(id), query)
  return { rows: rows.map((authenticator) => ({ authenticator, identity })), totalCount }
}

/** Throws NOT_FOUND. */
export async function findAuthenticator(
  ports: Pick<ReadPorts, 'identities' | 'authenticators'>,
  id: AuthenticatorId,
): Promise<AuthenticatorDetail> {
  const authenticator = orNotFound(await ports.authenticators.find(id))
  return {
    authenticator,
    identity: orNotFound(await ports.identities.find(authenticator.identityId)),
  }
}

export async function listAuthenticators(
  { identities, authenticators }: Pick<ReadPorts, 'identities' | 'authenticators'>,
  query: ListQuery,
): Promise<PageOf<AuthenticatorDetail>> {
  const { rows, totalCount } = await authenticators.list(query)
  const owners = await identities.findMany(ownersOf(rows))
  const details = rows.flatMap((authenticator) => {
    const identity = owners.get(authenticator.identityId)
    // Deleted between the two queries, and its authenticators with it.
    return identity === undefined ? [] : [{ authenticator, identity }]
  })
  return { rows: details, totalCount }
}

/** Reads what belongs to a page of identities with one query for each kind of thing. */
export async function describeIdentities(
  ports: ReadPorts,
  page: readonly Identity[],
): Promise<readonly IdentityDetail[]> {
  const ids = page.map(({ id }) => id)
  const [policies, owned, unused, withFactor, withSession] = await Promise.all([
    ports.authPolicies.list(),
    ports.authenticators.listOfMany(ids),
    ports.enrollments.listUnusedOfMany(ids),
    listWithAnyFactor(ports, ids),
    ports.apiSessions.listHoldersOfLive(ids, ports.clock.now()),
  ])
  const policyOf = new Map(policies.map((policy) => [policy.id, policy]))
  const authenticatorsOf = Map.groupBy(owned, ({ identityId }) => identityId)
  const enrollmentsOf = Map.groupBy(unused, ({ identityId }) => identityId)
  return page.map((identity) => {
    const { id, authPolicyId } = identity
    return {
      identity,
      // Missing only if both were deleted between the two queries.
      policy: policyOf.get(authPolicyId) ?? { id: authPolicyId, name: '' },
      authenticators: authenticatorsOf.get(id) ?? [],
      enrollments: enrollmentsOf.get(id) ?? [],
      isMfaEnabled: withFactor.has(id),
      hasApiSession: withSession.has(id),
    }
  })
}
