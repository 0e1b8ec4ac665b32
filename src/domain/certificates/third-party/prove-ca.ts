/**
 * Checks certificates that an administrator submits: that of a third-party CA, the one that proves possession of the
 * CA's key, and that of an authenticator. API 4.6. The use cases decide who may submit them.
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
  /** The first common name of the subject; undefined if it has none. */
  readonly commonName: string | undefined
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/** Reads the certificate of a CA to register: CA:TRUE, keyCertSign if it has a key usage, no weak key. */
export function readCaCertificate(
  pem: string,
): HandedInCertificate | 'INVALID_CERT_PEM' | 'CERTIFICATE_IS_NOT_CA' {
  const certificate = readOne(pem)
  if (certificate === undefined || keyFault(certificate) !== undefined) return 'INVALID_CERT_PEM'
  // OpenSSL's own verdict, which considers basicConstraints and key usage.
  return certificate.ca ? describe(certificate) : 'CERTIFICATE_IS_NOT_CA'
}

/** Reads the certificate of an authenticator. Whether it leads to a CA is checked at each login, not here. */
export function readLeafCertificate(pem: string): HandedInCertificate | 'INVALID_CERT_PEM' {
  const certificate = readOne(pem)
  if (certificate === undefined || keyFault(certificate) !== undefined) return 'INVALID_CERT_PEM'
  return describe(certificate)
}

/** Checks that the certificate is in date, names the CA's verification token and was signed by this CA. */
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
 * Returns the one certificate of the text. RFC 7468 §2 allows text around it, which `openssl` writes. A second block is
 * refused: it could be a private key, or leave unclear which certificate counts.
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

/** Those of the subject. The legacy object has the raw values; `subject` has them escaped. */
export function commonNames(certificate: X509Certificate): readonly string[] {
  const { CN = [] } = certificate.toLegacyObject().subject ?? {}
  return [CN].flat()
}
