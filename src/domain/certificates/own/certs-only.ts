/**
 * Encodes certificates as one PKCS #7 message without content and without signatures, the form in which EST hands out
 * the CAs to trust (RFC 7030 §4.1.3; RFC 5652 §5.1).
 */
import type { X509Certificate } from 'node:crypto'
import { readCertificates } from '../../../base/certificates.ts'
import { der, oid, TAG } from '../../../base/der.ts'

const SIGNED_DATA = oid('1.2.840.113549.1.7.2')
const NO_DATA = der(TAG.sequence, oid('1.2.840.113549.1.7.1'))
const VERSION_1 = der(TAG.integer, Buffer.from([1]))
const EMPTY_SET = der(TAG.set)

/** Returns DER with the certificates in the order of the text; those that cannot be parsed are left out. */
export function certsOnly(pem: string): Uint8Array {
  const certificates = readCertificates(pem)
    .filter((certificate) => certificate !== undefined)
    .map(({ raw }: X509Certificate) => raw)
  // Digest algorithms and signers are empty sets; the certificates have the implicit tag 0.
  const signed = der(
    TAG.sequence,
    VERSION_1,
    EMPTY_SET,
    NO_DATA,
    der(0xa0, ...certificates),
    EMPTY_SET,
  )
  return der(TAG.sequence, SIGNED_DATA, der(0xa0, signed))
}
