/**
 * The CAs of the network from the feed, and whether one of them directly issued a certificate. D-42, R103. Additional
 * certificates that a client sends are never used.
 */
import { X509Certificate } from 'node:crypto'
import type { Instant } from '../base/time/instant.ts'

export interface TrustedCas {
  /** Whether one of them signed it directly, and is in date. */
  haveIssued(certificate: X509Certificate, now: Instant): boolean
}

const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/** Undefined if the text contains no CA, or something that cannot be parsed. */
export function readTrustedCas(pem: string): TrustedCas | undefined {
  const cas: X509Certificate[] = []
  for (const [block] of pem.matchAll(PEM)) {
    const certificate = readPem(block)
    if (certificate === undefined) return undefined
    if (certificate.ca) cas.push(certificate)
  }
  if (cas.length === 0) return undefined
  return {
    haveIssued: (certificate, now) =>
      cas.some((ca) => isInDate(ca, now) && isIssuedBy(certificate, ca)),
  }
}

export function isInDate({ validFromDate, validToDate }: X509Certificate, now: Instant): boolean {
  return validFromDate.getTime() <= now && now <= validToDate.getTime()
}

function isIssuedBy(certificate: X509Certificate, ca: X509Certificate): boolean {
  try {
    return certificate.checkIssued(ca) && certificate.verify(ca.publicKey)
  } catch {
    return false // a type of key that Node does not support
  }
}

function readPem(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block)
  } catch {
    return undefined
  }
}
