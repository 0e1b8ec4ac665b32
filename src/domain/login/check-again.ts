/**
 * The identity behind a login that is under way, as it is now. It may have been disabled, deleted, or given a policy
 * that forbids the method or demands more since its primary factor was proven.
 */
import type { Clock } from '../../base/time/clock.ts'
import { type UsableRefusal, usableIdentity } from '../factors/usable-identity.ts'
import type { Accepted } from '../factors/verdict.ts'
import type { Identities } from '../identities/stores.ts'
import { type AuthPolicy, allowsSigner } from '../policies/auth-policy.ts'
import type { Rules } from '../policies/rules.ts'
import type { ProvenPrimary } from './proven.ts'

export type CheckAgain = (
  primary: ProvenPrimary,
) => Promise<Pick<Accepted, 'identity' | 'policy'> | { readonly refusal: RefusedAgain }>

/** Why somebody may not go on. */
export type RefusedAgain = UsableRefusal | 'signer-disabled'

export function createCheckAgain(deps: {
  readonly identities: Pick<Identities, 'find'>
  readonly rules: Pick<Rules, 'policy' | 'signer'>
  readonly clock: Pick<Clock, 'now'>
}): CheckAgain {
  return async (primary) => {
    const { identityId, signerId } = primary
    // Whom nobody trusts any more vouches for nobody.
    if (signerId !== undefined && deps.rules.signer(signerId)?.enabled !== true) {
      return { refusal: 'signer-disabled' }
    }
    const identity = await deps.identities.find(identityId)
    return usableIdentity(identity, (policy) => allowsPrimary(policy, primary), deps)
  }
}

/** Whether a policy still allows the way in which somebody has logged in. */
export function allowsPrimary(policy: AuthPolicy, { method, signerId }: ProvenPrimary): boolean {
  switch (method) {
    case 'password':
      return policy.primary.updb.allowed
    case 'cert':
      return policy.primary.cert.allowed
    case 'ext-jwt':
      return signerId !== undefined && allowsSigner(policy, signerId)
  }
}
