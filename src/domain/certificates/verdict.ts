/** What is decided about a client certificate, and why it is trusted. */
import type { CaId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ClockOff } from '../audit/clock-off.ts'
import type { LoginFailureReason } from '../audit/reasons.ts'
import type { Ca } from './third-party/ca.ts'

export type CertificateVerdict = TrustedCertificate | RejectedCertificate

export interface TrustedCertificate {
  readonly verdict: 'trusted'
  /** SHA-256 of the leaf in DER, lower-case hex. */
  readonly fingerprint: string
  readonly pem: string
  readonly anchor: { readonly kind: 'network' } | { readonly kind: 'ca'; readonly ca: Ca }
  /**
   * Why the certificate is accepted, so that this can be checked again later (D-225); undefined for one of our own PKI.
   */
  readonly trust: CaTrust | undefined
  readonly notAfter: Instant
  /** The policy decides whether to accept it (`allowExpiredCerts`); the CAs above it have not expired. */
  readonly isExpired: boolean
  /** By the `externalIdClaim` of its CA. */
  readonly externalId: string | undefined
}

/** Why a certificate of a third-party CA was accepted, so that this can be checked again (D-225). */
export interface CaTrust {
  /** The CA at the end of its path. */
  readonly caId: CaId
  /** Registered CAs between the two: each can be disabled separately (D-21). */
  readonly throughCaIds: readonly CaId[]
  /** When the first CA of the path expires. No policy accepts an expired CA. */
  readonly casEndAt: Instant
}

export interface RejectedCertificate {
  readonly verdict: 'rejected'
  readonly reason: LoginFailureReason
  readonly why: string
  /** Only if nothing but time is wrong (D-325). */
  readonly clock?: ClockOff
}
