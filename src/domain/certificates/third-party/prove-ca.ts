/**
 * Certificates that an administrator hands in: that of a third-party CA, the one that proves that somebody holds
 * the CA's key, and the one of an authenticator. API 4.6. Who may hand them in is decided by the use cases.
 */
import type { X509Certificate } from 'node:crypto'
import {
  fingerprintOf,
  isSignedBy,
  readCertificates,
  validity,
  writeCertificates,
} from '../../../base/certificates.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { LONGEST_PEM } from '../../../protocol/limits.ts'
import { keyFault } from '../paths/key-strength.ts'
import { validatePath } from '../paths/validate-path.ts'
import type { Ca } from './ca.ts'

export interface HandedInCertificate {
  /** The certificate alone, in the one form that we store. */
  readonly certPem: string
  /** SHA-256 of the certificate in DER, lower-case hex. */
  readonly fingerprint: string
  /** The first of the subject; undefined where there is none. */
  readonly commonName: string | undefined
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/** The certificate of a CA that may be registered: CA:TRUE, keyCertSign where it has a key usage, no weak key. */
export function readCaCertificate(
  pem: string,
): HandedInCertificate | 'INVALID_CERT_PEM' | 'CERTIFICATE_IS_NOT_CA' {
  const certificate = readOne(pem)
  if (certificate === undefined || keyFault(certificate) !== undefined) return 'INVALID_CERT_PEM'
  // OpenSSL's own word for it, which looks at basicConstraints and key usage.
  return certificate.ca ? describe(certificate) : 'CERTIFICATE_IS_NOT_CA'
}

/** The certificate of an authenticator. Whether it leads to a CA is asked at each login, not here. */
export function readLeafCertificate(pem: string): HandedInCertificate | 'INVALID_CERT_PEM' {
  const certificate = readOne(pem)
  if (certificate === undefined || keyFault(certificate) !== undefined) return 'INVALID_CERT_PEM'
  return describe(certificate)
}

/** Whether the certificate is in date, names the CA's verification token and was signed by that very CA. */
export async function proveCa(
  ca: Pick<Ca, 'certPem' | 'verificationToken'>,
  pem: string,
  now: Instant,
): Promise<'proven' | 'INVALID_CERT_PEM' | 'INVALID_COMMON_NAME' | 'CERT_FAILED_VALIDATION'> {
  const proof = readOne(pem)
  if (proof === undefined) return 'INVALID_CERT_PEM'
  const token = ca.verificationToken
  const names = commonNames(proof)
  if (token === undefined || names.length !== 1 || names[0] !== token) return 'INVALID_COMMON_NAME'

  const [anchor] = readCertificates(ca.certPem)
  if (anchor === undefined || !isSignedBy(proof, anchor)) return 'CERT_FAILED_VALIDATION'
  const { state } = await validatePath([proof, anchor], now)
  return state === 'valid' ? 'proven' : 'CERT_FAILED_VALIDATION'
}

/**
 * The one certificate of the text. RFC 7468 §2 allows words around it, which `openssl` writes; any second block
 * is refused, lest somebody hands in a key with it or wonders which of two counted.
 */
function readOne(pem: string): X509Certificate | undefined {
  if (pem.length > LONGEST_PEM || pem.split('-----BEGIN ').length !== 2) return undefined
  const [certificate, ...more] = readCertificates(pem)
  return more.length === 0 ? certificate : undefined
}

function describe(certificate: X509Certificate): HandedInCertificate {
  return {
    certPem: writeCertificates([certificate]),
    fingerprint: fingerprintOf(certificate),
    commonName: commonNames(certificate)[0],
    ...validity(certificate),
  }
}

/** The legacy object has the values as they are; `subject` has them escaped. */
function commonNames(certificate: X509Certificate): readonly string[] {
  const { CN = [] } = certificate.toLegacyObject().subject ?? {}
  return [CN].flat()
}
