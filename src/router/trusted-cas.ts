/**
 * The CAs of the network from the feed, and whether one of them directly issued a certificate. D-42, R103. Additional
 * certificates that a client sends are never used.
 */
import type { X509Certificate } from 'node:crypto'
import { isInDate, isSignedBy, readCertificates } from '../base/certificates.ts'
import type { Instant } from '../base/time/instant.ts'

export interface TrustedCas {
  /** Whether one of them signed it directly, and is in date. */
  haveIssued(certificate: X509Certificate, now: Instant): boolean
}

/** Undefined if the text contains no CA, or something that cannot be parsed. */
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
