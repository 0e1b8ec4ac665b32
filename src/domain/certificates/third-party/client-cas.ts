/**
 * The CAs that a listener names when it asks for a client certificate, so that browsers offer the right ones
 * (RFC 8446 §4.2.4). What is named is not yet trusted.
 */
import type { X509Certificate } from 'node:crypto'
import { readCertificates, writeCertificates } from '../../../base/certificates.ts'

/** The names stand in one handshake message. TLS allows 64 KiB for it; some clients take far less. */
const LARGEST_NAMES = 12 * 1024

/** Around each attribute of a name in DER: two tags with lengths and the id of its type. */
const ATTRIBUTE_OVERHEAD = 16

/**
 * One PEM text with each of the CAs once, leaving out what cannot be read. Empty when their names are too much
 * for a handshake: to name none is to ask for any, while naming only some would hide the certificates of the rest.
 */
export function nameableCas(pems: readonly string[]): string {
  const cas = new Map<string, X509Certificate>()
  for (const ca of pems.flatMap(readCertificates)) {
    if (ca !== undefined) cas.set(ca.fingerprint256, ca)
  }
  const named = [...cas.values()]
  const size = named.reduce((sum, ca) => sum + nameSize(ca), 0)
  return size > LARGEST_NAMES ? '' : writeCertificates(named)
}

function nameSize({ subject = '' }: X509Certificate): number {
  return subject.split('\n').length * ATTRIBUTE_OVERHEAD + Buffer.byteLength(subject)
}
