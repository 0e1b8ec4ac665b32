/**
 * The authenticator app of an identity, as it is stored. SPEC TOTP enrollment during an OIDC flow: pending until a code
 * has proven it, then verified. D-17, D-19.
 */
import type { IdentityId, TotpEnrollmentId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'

export interface TotpEnrollment {
  readonly id: TotpEnrollmentId
  readonly identityId: IdentityId
  readonly isVerified: boolean
  /** 160 bits, encrypted under the installation secret with the enrollment's id as context. */
  readonly sealedSecret: string
  readonly createdAt: Instant
}
