/**
 * The authenticator app of an identity, as it is stored. SPEC TOTP enrollment during an OIDC flow: pending until a code
 * has proven it, then verified. D-17, D-19, D-240.
 */
import type { Brand } from '../../../base/brand.ts'
import type { ApiSessionId, IdentityId, TotpEnrollmentId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'

export interface TotpEnrollment {
  readonly id: TotpEnrollmentId
  readonly identityId: IdentityId
  readonly isVerified: boolean
  /**
   * Undefined once the enrollment is verified, and for a pending one from before owners were recorded, which is void
   * (D-240).
   */
  readonly owner: EnrollmentOwner | undefined
  /** 160 bits, encrypted under the installation secret with the enrollment's id as context. */
  readonly sealedSecret: string
  readonly createdAt: Instant
}

/** The login or session that started an enrollment. Only it may read, verify or cancel the enrollment (D-240). */
export type EnrollmentOwner = Brand<string, 'EnrollmentOwner'>

export const loginOwner = ({ key }: { readonly key: Brand<string, 'AuthRequestKey'> }) =>
  `login ${key}` as string as EnrollmentOwner

export const sessionOwner = ({ sessionId }: { readonly sessionId: ApiSessionId }) =>
  `session ${sessionId}` as string as EnrollmentOwner
