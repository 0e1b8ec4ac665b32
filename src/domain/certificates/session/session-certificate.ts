/**
 * A stored API session certificate: short-lived, issued for a CSR, valid only together with a token of its session.
 * SPEC API Session Certificate; D-40, D-41.
 */
import type { ApiSessionId, IdentityId, SessionCertificateId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'

export interface SessionCertificate {
  readonly id: SessionCertificateId
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId
  /** In readable form: `CN=laptop,O=Example`. */
  readonly subject: string
  /** SHA-256 of the certificate in DER, lower-case hex. */
  readonly fingerprint: string
  /** Leaf first, then intermediates, no root (D-41). */
  readonly certificatePem: string
  readonly validFrom: Instant
  readonly validTo: Instant
  readonly createdAt: Instant
}

/** R099, D-40. */
export const MOST_LIVE_CERTIFICATES = 100
