/**
 * The authenticator app of an identity, as it is stored. SPEC TOTP enrollment during an OIDC flow: pending until a code
 * has proven it, then verified. D-17, D-19, D-240.
 */
import type { IdentityId, TotpEnrollmentId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { FactorOwner } from '../factor-owner.ts'

export interface TotpEnrollment {
  readonly id: TotpEnrollmentId
  readonly identityId: IdentityId
  readonly isVerified: boolean
  /**
   * Undefined once the enrollment is verified, and for a pending one from before owners were recorded, which is void
   * (D-240).
   */
  readonly owner: FactorOwner | undefined
  /** 160 bits, encrypted under the installation secret with the enrollment's id as context. */
  readonly sealedSecret: string
  readonly createdAt: Instant
}
