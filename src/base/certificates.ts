/**
 * X.509 certificates, read by OpenSSL: from PEM (RFC 7468) and from DER, and what is asked of one. Whether a certificate
 * counts is decided elsewhere.
 */
import { type KeyObject, X509Certificate } from 'node:crypto'
import { attempt } from './node/attempt.ts'
import { type Instant, instant } from './time/instant.ts'

// A beginning without its end counts too: a file that was cut off must not pass for a shorter chain.
const BLOCK = /-----BEGIN CERTIFICATE-----(?:[^-]*-----END CERTIFICATE-----)?/g

/** Every certificate of the text in its order; undefined in the place of one that cannot be read. */
export function readCertificates(pem: string): readonly (X509Certificate | undefined)[] {
  return Array.from(pem.matchAll(BLOCK), ([block]) => readCertificate(block))
}

/** The first certificate of a text in PEM; undefined when it cannot be read. */
export function readCertificate(pem: string): X509Certificate | undefined {
  return attempt(() => new X509Certificate(pem))
}

/**
 * The certificate that these bytes are; undefined when they are not one. Node looks for a PEM block first, anywhere in
 * the bytes: a certificate that contains another one as text in some field would be parsed as that other one, whose key
 * was not proven (R093). So the result must equal the input.
 */
export function readDerCertificate(der: Uint8Array): X509Certificate | undefined {
  const certificate = attempt(() => new X509Certificate(der))
  return certificate?.raw.equals(der) ? certificate : undefined
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

export function isInDate(certificate: X509Certificate, now: Instant): boolean {
  const { notBefore, notAfter } = validity(certificate)
  return notBefore <= now && now <= notAfter
}

/**
 * Whether this very key of `issuer` signed the certificate; false also where OpenSSL cannot use the key or the signature.
 * Says nothing about whether the issuer was allowed to.
 */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return (
    attempt(
      () => namesIssuer(certificate, issuer) && isSignedWith(certificate, issuer.publicKey),
    ) ?? false
  )
}

/**
 * Whether `issuer` could have signed the certificate: its name, key identifier, kind of key and key usage fit. Verifies
 * no signature, so it is cheap for any certificate, and anyone can make one that fits.
 */
export function namesIssuer(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return attempt(() => certificate.checkIssued(issuer)) ?? false
}

/** Whether this key signed the certificate. The caller has checked that such a key is cheap to verify with. */
export function isSignedWith(certificate: X509Certificate, key: KeyObject): boolean {
  return attempt(() => certificate.verify(key)) ?? false
}
