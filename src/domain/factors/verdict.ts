/**
 * What a primary factor answers. It never touches the auth request; what to do with the verdict is decided in login/.
 * The reason is for the audit log alone (D-12).
 */
import type { IdentityId } from '../../base/ids.ts'
import type { Challenge } from '../../protocol/challenge.ts'
import type { LoginFailureReason } from '../audit/events.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { Stores } from '../stores.ts'
import type { ProvenPrimary } from './proven.ts'

export interface Accepted {
  readonly verdict: 'accepted'
  readonly identity: Identity
  readonly policy: AuthPolicy
  readonly primary: ProvenPrimary
  /** After a password: the cookie that makes the device known from now on (D-216). */
  readonly device?: string
}

export interface Rejected {
  readonly verdict: 'rejected'
  readonly reason: LoginFailureReason
  readonly identityId: IdentityId | undefined
  /** More for the operator; never a credential. */
  readonly why?: string
  /**
   * What else the failure changes, in the transaction that records it. One commit for every refusal: a second one
   * would tell by its time that there is something to count (R077).
   */
  readonly count?: (tx: Stores) => Promise<void>
  /** D-12: what a missing, expired or invalid external JWT is answered with, instead of INVALID_AUTH. */
  readonly challenges?: readonly Challenge[]
}

export type PrimaryVerdict = Accepted | Rejected
