/**
 * The CAs of the network as the feed names them, and whether one of them has issued a certificate itself. D-42, R103.
 * Nothing that a client sends beside its own certificate is ever used.
 */
import type { X509Certificate } from 'node:crypto'
import { isInDate, isSignedBy, readCertificates } from '../base/certificates.ts'
import type { Instant } from '../base/time/instant.ts'

export interface TrustedCas {
  /** Signed by one of them, without anything in between, and that one is in date. */
  haveIssued(certificate: X509Certificate, now: Instant): boolean
}

/** Undefined when there is not one CA in the text, or something that cannot be read. */
export function readTrustedCas(pem: string): TrustedCas | undefined {
  const cas: X509Certificate[] = []
  for (const certificate of readCertificates(pem)) {
    if (certificate === undefined) return undefined
    if (certificate.ca) cas.push(certificate)
  }
  if (cas.length === 0) return undefined
  return {
    haveIssued: (certificate, now) =>
      cas.some((ca) => isInDate(ca, now) && isSignedBy(certificate, ca)),
  }
}
