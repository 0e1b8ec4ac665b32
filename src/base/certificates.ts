/** Certificates in PEM (RFC 7468), as files and the database hold them. Reads only; judges nothing. */
import { X509Certificate } from 'node:crypto'
import { type Instant, instant } from './time/instant.ts'

// A beginning without its end counts too: a file that was cut off must not pass for a shorter chain.
const BLOCK = /-----BEGIN CERTIFICATE-----(?:[^-]*-----END CERTIFICATE-----)?/g

/** Every certificate of the text in its order; undefined in the place of one that cannot be read. */
export function readCertificates(pem: string): readonly (X509Certificate | undefined)[] {
  return Array.from(pem.matchAll(BLOCK), ([block]) => {
    try {
      return new X509Certificate(block)
    } catch {
      return undefined
    }
  })
}

export function writeCertificates(certificates: readonly X509Certificate[]): string {
  return certificates.map((certificate) => certificate.toString()).join('')
}

/** SHA-256 of the certificate in DER, lower-case hex. */
export function fingerprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '').toLowerCase()
}

/** Both ends belong to the validity (RFC 5280 §4.1.2.5). */
export function validity(certificate: X509Certificate): { notBefore: Instant; notAfter: Instant } {
  return {
    notBefore: instant(certificate.validFromDate.getTime()),
    notAfter: instant(certificate.validToDate.getTime()),
  }
}

/** Whether this very key of `issuer` signed the certificate. Says nothing about whether it was allowed to. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}
