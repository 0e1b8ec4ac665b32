/**
 * The certificate of a connection: parsed from its bytes, and matched with a session in the three ways of D-42. SPEC
 * API Session Certificates, Limits; R102. Other code checks what has ended.
 */
import type { X509Certificate } from 'node:crypto'
import { readDerCertificate, validity } from '../base/certificates.ts'
import { base64url, sha256 } from '../base/encoding.ts'
import type { Instant } from '../base/time/instant.ts'
import { parseSessionCertificateUri } from '../protocol/spiffe-id.ts'
import { PURPOSE } from '../protocol/x509.ts'
import type { TrustedCas } from './trusted-cas.ts'

export interface ClientCertificate {
  readonly x509: X509Certificate
  /** SHA-256 in lower-case hex, as in the feed's removed certificates. */
  readonly fingerprint: string
  /** The same in base64url, as in tokens: RFC 8705 §3.1. */
  readonly thumbprint: string
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/** The owner of a certificate of our own PKI. */
export type CertificateName =
  | {
      readonly kind: 'session'
      readonly identityId: string
      readonly sessionId: string
      readonly certificateId: string
    }
  | { readonly kind: 'enrolled'; readonly identityId: string }

/** Far larger than any certificate that we issue. */
const LARGEST_CERTIFICATE = 64 * 1024

/** Undefined unless the bytes are exactly one certificate in DER. */
export function readClientCertificate(der: Uint8Array): ClientCertificate | undefined {
  const x509 = der.length > LARGEST_CERTIFICATE ? undefined : readDerCertificate(der)
  if (x509 === undefined) return undefined
  const hash = sha256(der)
  return {
    x509,
    fingerprint: Buffer.from(hash).toString('hex'),
    thumbprint: base64url(hash),
    ...validity(x509),
  }
}

/** Undefined unless our CAs issued it to a client, in this trust domain. */
export function nameOf(
  { x509 }: ClientCertificate,
  { cas, trustDomain }: { readonly cas: TrustedCas; readonly trustDomain: string },
  now: Instant,
): CertificateName | undefined {
  if (x509.ca || !x509.keyUsage?.includes(PURPOSE.clientAuth)) return undefined
  const uri = onlyUri(x509)
  const name = uri === undefined ? undefined : parseName(uri, trustDomain)
  return name !== undefined && cas.haveIssued(x509, now) ? name : undefined
}

/** A SPIFFE certificate has exactly one URI (X.509-SVID §2). Node quotes values with a comma or other odd characters. */
function onlyUri({ subjectAltName }: X509Certificate): string | undefined {
  if (subjectAltName === undefined || subjectAltName.includes('"')) return undefined
  const uris = subjectAltName.split(', ').filter((name) => name.startsWith('URI:'))
  return uris.length === 1 ? uris[0]?.slice('URI:'.length) : undefined
}

const ENROLLED = /^spiffe:\/\/([^/]+)\/identity\/([^/]+)$/

function parseName(uri: string, trustDomain: string): CertificateName | undefined {
  const session = parseSessionCertificateUri(uri)
  if (session !== undefined) {
    const { identityId, sessionId, certificateId } = session
    if (session.trustDomain !== trustDomain) return undefined
    return { kind: 'session', identityId, sessionId, certificateId }
  }
  const [, domain, identityId] = ENROLLED.exec(uri) ?? []
  if (domain !== trustDomain || identityId === undefined) return undefined
  return { kind: 'enrolled', identityId }
}
