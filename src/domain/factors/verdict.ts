/**
 * The verdict of a primary factor. A factor never touches the auth request; login/ decides what to do with the verdict.
 * The reason is only for the audit log (D-12).
 */
import type { IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Challenge } from '../../protocol/challenge.ts'
import type { ClockOff } from '../audit/clock-off.ts'
import type { LoginFailureReason } from '../audit/reasons.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { Stores } from '../stores.ts'
import { type ProvenPrimary, proofBy } from './proven.ts'

export interface Accepted {
  readonly verdict: 'accepted'
  readonly identity: Identity
  readonly policy: AuthPolicy
  readonly primary: ProvenPrimary
  /** After a password: the cookie that marks the device as known (D-216). */
  readonly device?: string
  /** Spends what proved it, in the transaction that accepts it. Returns false if another call was faster. */
  readonly take?: (tx: Stores) => Promise<boolean>
}

export interface Rejected {
  readonly verdict: 'rejected'
  readonly reason: LoginFailureReason
  readonly identityId: IdentityId | undefined
  /** More details for the operator; never a credential. */
  readonly why?: string
  /** Only if nothing but time is wrong (D-325). */
  readonly clock?: ClockOff | undefined
  /**
   * What else the failure changes, in the transaction that records it. Every refusal is exactly one commit: the time of
   * a second one would reveal that there is something to count (R077).
   */
  readonly count?: (tx: Stores) => Promise<void>
  /** D-12: the response to a missing, expired or invalid external JWT, instead of INVALID_AUTH. */
  readonly challenges?: readonly Challenge[]
}

export type PrimaryVerdict = Accepted | Rejected

/** The identity has proven itself. `proof`: what this method adds to the parts that every proof has. */
export function accepted(
  { identity, policy }: Pick<Accepted, 'identity' | 'policy'>,
  proof: Partial<Omit<ProvenPrimary, 'at' | 'voidedLogins'>> & Pick<ProvenPrimary, 'method'>,
  at: Instant,
): Accepted {
  return { verdict: 'accepted', identity, policy, primary: { ...proofBy(identity, at), ...proof } }
}

export function rejected(reason: LoginFailureReason, identityId?: IdentityId): Rejected {
  return { verdict: 'rejected', reason, identityId }
}
