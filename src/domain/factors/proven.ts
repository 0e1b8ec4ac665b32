/**
 * What has been proven on a login, and by whom. A factor of one identity never counts for another: everything here
 * belongs to the identity of the primary factor (D-13).
 */
import type { AuthenticatorId, CaId, ExternalJwtSignerId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'

/** SPEC Authorization names them; the `method` hint and the login endpoints agree. */
export const PRIMARY_METHODS = ['password', 'cert', 'ext-jwt'] as const
export type PrimaryMethod = (typeof PRIMARY_METHODS)[number]

/** A primary factor that was proven, and by whom. */
export interface ProvenPrimary {
  readonly method: PrimaryMethod
  readonly identityId: IdentityId
  /** The password or certificate that is registered; undefined where a claim named the identity. */
  readonly authenticatorId: AuthenticatorId | undefined
  /** Of that authenticator, when it was proven. */
  readonly credentialVersion: number | undefined
  /** `cert`: whose certificate it was, for `cnf` and `z_ice` (D-24, D-26). */
  readonly certificate: ProvenCertificate | undefined
  /** `ext-jwt`: who signed it. */
  readonly signerId: ExternalJwtSignerId | undefined
  /** `voidedLogins` of the identity at that moment: if the number has changed, the login begins no session (D-226). */
  readonly voidedLogins: number | undefined
  readonly at: Instant
}

export interface ProvenCertificate {
  /** SHA-256 of the certificate in DER, lower-case hex. */
  readonly fingerprint: string
  readonly isIssuedByNetwork: boolean
  /** When the certificate expires. Undefined if the login is older than this field (`complete-proof.ts`). */
  readonly notAfter: Instant | undefined
  /** Why it counted. Undefined for a certificate of our own PKI, and if the login is older than this field. */
  readonly trust: CaTrust | undefined
}

/** Why a certificate of a third-party CA counted, so that this can be checked again (D-225). */
export interface CaTrust {
  /** The CA at the end of its path. */
  readonly caId: CaId
  /** Registered CAs between the two: each can be disabled separately (D-21). */
  readonly throughCaIds: readonly CaId[]
  /** When the first CA of the path expires. No policy accepts an expired CA. */
  readonly casEndAt: Instant
}

/** Second factors proven beside the primary one, by the same identity. */
export interface ProvenSecondary {
  readonly totp: boolean
  /** The signer of the external JWT that was shown beside the primary credential. */
  readonly extJwt: ExternalJwtSignerId | undefined
}

export const NOTHING_SECONDARY: ProvenSecondary = { totp: false, extJwt: undefined }
