/**
 * Whether the identity that a primary factor found may log in by that method now. The checks are the same for every
 * method and run after the proof (D-12, R077), so only a caller with a valid credential can be refused by them.
 */
import type { Clock } from '../../base/time/clock.ts'
import type { LoginFailureReason } from '../audit/reasons.ts'
import { type Identity, isDisabled } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { Rules } from '../policies/rules.ts'

export type UsableIdentity =
  | { readonly identity: Identity; readonly policy: AuthPolicy }
  | { readonly refusal: UsableRefusal }

export type UsableRefusal = Extract<
  LoginFailureReason,
  'identity-missing' | 'identity-disabled' | 'method-not-allowed'
>

export function usableIdentity(
  identity: Identity | undefined,
  allows: (policy: AuthPolicy) => boolean,
  { rules, clock }: { readonly rules: Pick<Rules, 'policy'>; readonly clock: Pick<Clock, 'now'> },
): UsableIdentity {
  if (identity === undefined) return { refusal: 'identity-missing' }
  if (isDisabled(identity, clock.now())) return { refusal: 'identity-disabled' }
  const policy = rules.policy(identity.authPolicyId)
  if (policy === undefined || !allows(policy)) return { refusal: 'method-not-allowed' }
  return { identity, policy }
}
