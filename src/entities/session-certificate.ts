/**
 * An API session certificate: short-lived, issued for a CSR, valid only together with a token of its session. SPEC API
 * Session Certificate; D-40, D-41.
 */
import type { ApiSessionId, IdentityId, SessionCertificateId } from '../base/ids.ts'
import { as, type Fields } from './field.ts'

export const SESSION_CERTIFICATE = {
  id: { type: 'text', of: as<SessionCertificateId>() },
  sessionId: { type: 'text', of: as<ApiSessionId>() },
  identityId: { type: 'text', of: as<IdentityId>() },
  /** In readable form: `CN=laptop,O=Example`. */
  subject: { type: 'text' },
  /** SHA-256 of the certificate in DER, lower-case hex. */
  fingerprint: { type: 'text' },
  /** Leaf first, then intermediates, no root (D-41). */
  certificatePem: { type: 'text' },
  validFrom: { type: 'time' },
  validTo: { type: 'time' },
  createdAt: { type: 'time' },
} as const satisfies Fields
