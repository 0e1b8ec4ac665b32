/**
 * What has been proven on a login, and by whom. A factor of one identity never counts for another: everything here
 * belongs to the identity of the primary factor (D-13).
 */
import type { AuthenticatorId, ExternalJwtSignerId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import {
  eachDemand,
  SECOND_FACTOR_IDS,
  type SecondFactorId,
} from '../../protocol/factors/second-factors.ts'
import type { CaTrust } from '../certificates/verdict.ts'
import type { Identity } from '../identities/identity.ts'
import type { PrimaryMethod } from '../identities/primary-methods.ts'

export { eachDemand, SECOND_FACTOR_IDS, type SecondFactorId }

/** A proven primary factor, and the identity that proved it. */
export interface ProvenPrimary {
  readonly method: PrimaryMethod
  readonly identityId: IdentityId
  /** The registered password or certificate; undefined if a claim named the identity. */
  readonly authenticatorId: AuthenticatorId | undefined
  /** The version of that authenticator when it was proven. */
  readonly credentialVersion: number | undefined
  /** `cert`: the certificate, for `cnf` and `z_ice` (D-24, D-26). */
  readonly certificate: ProvenCertificate | undefined
  /** `ext-jwt`: the signer of the token. */
  readonly signerId: ExternalJwtSignerId | undefined
  /**
   * `voidedLogins` of the identity at that moment: if the number has changed, the login cannot begin a session (D-226).
   */
  readonly voidedLogins: number | undefined
  readonly at: Instant
}

/** The parts of a proof that every method has. A method adds its name and what it has proven. */
export function proofBy(
  { id, voidedLogins }: Pick<Identity, 'id' | 'voidedLogins'>,
  at: Instant,
): Omit<ProvenPrimary, 'method'> {
  const nothing = { credentialVersion: undefined, certificate: undefined, signerId: undefined }
  return { identityId: id, authenticatorId: undefined, ...nothing, voidedLogins, at }
}

export interface ProvenCertificate {
  /** SHA-256 of the certificate in DER, lower-case hex. */
  readonly fingerprint: string
  readonly isIssuedByNetwork: boolean
  /** When the certificate expires. Undefined if the login is older than this field (`complete-proof.ts`). */
  readonly notAfter: Instant | undefined
  /** Why it was trusted. Undefined for a certificate of our own PKI, and if the login is older than this field. */
  readonly trust: CaTrust | undefined
}

/**
 * Returns the fingerprint of the certificate that proved the login; undefined for every other method. An authenticator may
 * have two certificates, of which one is pending, and its version does not tell them apart (D-130).
 */
export function provenFingerprint({
  method,
  certificate,
}: Pick<ProvenPrimary, 'method' | 'certificate'>): string | undefined {
  return method === 'cert' ? certificate?.fingerprint : undefined
}

/** Second factors proven in addition to the primary one, by the same identity. */
export interface ProvenSecondary {
  readonly factors: ReadonlySet<SecondFactorId>
  /** A recovery code stood for the passkey among the factors: then nothing was proven that phishing cannot steal (D-464). */
  readonly isRecovered?: boolean
  /** The signer of the external JWT that was presented with the primary credential. */
  readonly extJwt: ExternalJwtSignerId | undefined
}

export const NO_FACTORS: ReadonlySet<SecondFactorId> = new Set()
export const NOTHING_SECONDARY: ProvenSecondary = { factors: NO_FACTORS, extJwt: undefined }

/** A factor was proven, or its enrollment verified; perhaps by a recovery code, which makes no proven passkey less. */
export function withFactor(
  secondary: ProvenSecondary,
  factor: SecondFactorId,
  by: SecondFactorId | 'recovery-code' = factor,
): ProvenSecondary {
  const { isRecovered: wasRecovered = false, factors, ...others } = secondary
  const isProven = factors.has('passkey') && !wasRecovered
  const isRecovered = factor === 'passkey' ? by === 'recovery-code' && !isProven : wasRecovered
  return {
    ...others,
    factors: new Set([...factors, factor]),
    ...(isRecovered ? { isRecovered } : {}),
  }
}
