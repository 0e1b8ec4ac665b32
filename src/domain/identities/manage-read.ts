/** What an administrator sees of identities and authenticators. API 3.3, 4.1, 4.2. Reads only. */

import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Enrollment } from '../enrollments/enrollment.ts'
import type { Enrollments } from '../enrollments/stores.ts'
import type { TotpEnrollments } from '../factors/stores.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { AuthPolicies } from '../policies/stores.ts'
import { notFound } from '../refusals.ts'
import type { ApiSessions } from '../sessions/stores.ts'
import type { Authenticator } from './authenticator.ts'
import type { Identity } from './identity.ts'
import type { Authenticators, Identities } from './stores.ts'

export interface IdentityDetail {
  readonly identity: Identity
  readonly policy: Pick<AuthPolicy, 'id' | 'name'>
  readonly authenticators: readonly Authenticator[]
  /** Used and expired ones too. */
  readonly enrollments: readonly Enrollment[]
  readonly isMfaEnabled: boolean
  readonly hasApiSession: boolean
}

export interface AuthenticatorDetail {
  readonly authenticator: Authenticator
  readonly identity: Pick<Identity, 'id' | 'name'>
}

/** What is asked for by an id that nobody has is NOT_FOUND. */
export interface ReadIdentities {
  find(id: IdentityId): Promise<IdentityDetail>
  list(query: ListQuery): Promise<PageOf<IdentityDetail>>
  authenticatorsOf(id: IdentityId, query: ListQuery): Promise<PageOf<AuthenticatorDetail>>
  findAuthenticator(id: AuthenticatorId): Promise<AuthenticatorDetail>
  listAuthenticators(query: ListQuery): Promise<PageOf<AuthenticatorDetail>>
}

export function createReadIdentities(deps: {
  readonly identities: Pick<Identities, 'find' | 'list'>
  readonly authenticators: Pick<Authenticators, 'find' | 'list' | 'listOf'>
  readonly enrollments: Pick<Enrollments, 'listOf'>
  readonly authPolicies: Pick<AuthPolicies, 'list'>
  readonly totpEnrollments: Pick<TotpEnrollments, 'find'>
  readonly apiSessions: Pick<ApiSessions, 'hasLive'>
  readonly clock: Pick<Clock, 'now'>
}): ReadIdentities {
  const { identities, authenticators, authPolicies, totpEnrollments, apiSessions, clock } = deps

  async function describe(
    identity: Identity,
    policies: readonly AuthPolicy[],
  ): Promise<IdentityDetail> {
    const { id, authPolicyId } = identity
    const [own, enrollments, enrollment, hasApiSession] = await Promise.all([
      authenticators.listOf(id),
      deps.enrollments.listOf(id),
      totpEnrollments.find(id),
      apiSessions.hasLive(id, clock.now()),
    ])
    return {
      identity,
      // Missing only where both were deleted between the two readings.
      policy: policies.find((one) => one.id === authPolicyId) ?? { id: authPolicyId, name: '' },
      authenticators: own,
      enrollments,
      isMfaEnabled: enrollment?.isVerified === true,
      hasApiSession,
    }
  }

  async function existing(id: IdentityId): Promise<Identity> {
    const identity = await identities.find(id)
    if (identity === undefined) throw notFound()
    return identity
  }

  return {
    async find(id) {
      const identity = await existing(id)
      return describe(identity, await authPolicies.list())
    },

    async list(query) {
      const { rows, totalCount } = await identities.list(query)
      const policies = await authPolicies.list()
      const details = rows.map((identity) => describe(identity, policies))
      return { rows: await Promise.all(details), totalCount }
    },

    async authenticatorsOf(id, query) {
      const identity = await existing(id)
      const { rows, totalCount } = listInMemory(await authenticators.listOf(id), query)
      return { rows: rows.map((authenticator) => ({ authenticator, identity })), totalCount }
    },

    async findAuthenticator(id) {
      const authenticator = await authenticators.find(id)
      if (authenticator === undefined) throw notFound()
      return { authenticator, identity: await existing(authenticator.identityId) }
    },

    async listAuthenticators(query) {
      const { rows, totalCount } = await authenticators.list(query)
      const details = rows.map(async (authenticator) => {
        const identity = await identities.find(authenticator.identityId)
        // Removed between the two readings, and its authenticators with it.
        return identity === undefined ? [] : [{ authenticator, identity }]
      })
      return { rows: (await Promise.all(details)).flat(), totalCount }
    },
  }
}
