/**
 * The CAs that a listener names when it requests a client certificate, so that browsers offer the right ones (RFC 8446
 * §4.2.4). Naming a CA does not mean trusting it.
 */
import type { X509Certificate } from 'node:crypto'
import { readCertificates, writeCertificates } from '../../../base/certificates.ts'

/** The names go into one handshake message. TLS allows 64 KiB for it; some clients accept far less. */
const LARGEST_NAMES = 12 * 1024

/** Overhead of each attribute of a name in DER: two tags with lengths and the id of its type. */
const ATTRIBUTE_OVERHEAD = 16

/**
 * Returns one PEM text with each CA once, leaving out those that cannot be parsed. Returns an empty text if the names
 * are too long for a handshake: an empty list requests any certificate, while a partial list would hide the
 * certificates of the other CAs.
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
