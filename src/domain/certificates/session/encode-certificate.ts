/**
 * The bytes of an API session certificate, RFC 5280 §4.1. Issuing is a hot path and every certificate is alike, so it
 * is written from a prepared template instead of by a library for all certificates (D-118). The profile is D-40's: what is not
 * here is not in the certificate (R098).
 */
import type { X509Certificate } from 'node:crypto'
import { der, oid, readChildren, readDer, TAG } from '../../../base/der.ts'
import { sha256, utf8 } from '../../../base/encoding.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { SUBJECT_OIDS, type SubjectPart } from './csr.ts'

export interface SessionCertificateContent {
  /** 128 random bits. */
  readonly serial: Uint8Array
  readonly subject: readonly SubjectPart[]
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array
  readonly uri: string
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/** Prepared once for each issuing CA: what to sign, and how to close it with a signature. */
export interface CertificateTemplate {
  toBeSigned(content: SessionCertificateContent): Uint8Array
  finish(toBeSigned: Uint8Array, signature: Uint8Array): Uint8Array
}

const ECDSA_WITH_SHA256 = der(TAG.sequence, oid('1.2.840.10045.4.3.2'))
const VERSION_3 = der(0xa0, der(TAG.integer, Buffer.from([2])))

const TRUE = der(0x01, Buffer.from([0xff]))

/** For a CA whose key is on P-256, as every one of ours is (`x509.ts`). */
export function certificateTemplate(issuer: X509Certificate): CertificateTemplate {
  const { name: issuerName, keyIdentifier: issuerKey } = readIssuer(issuer)
  const fixedExtensions = [
    // An empty sequence: not a CA.
    extension('2.5.29.19', der(TAG.sequence), 'critical'),
    // Bit 0 of 9 is digitalSignature; 7 bits of the byte are unused.
    extension('2.5.29.15', der(TAG.bitString, Buffer.from([7, 0x80])), 'critical'),
    extension('2.5.29.37', der(TAG.sequence, oid('1.3.6.1.5.5.7.3.2'))), // clientAuth
    extension('2.5.29.35', der(TAG.sequence, der(0x80, issuerKey))),
  ]
  return {
    toBeSigned({ serial, subject, publicKey, uri, notBefore, notAfter }) {
      const extensions = [
        ...fixedExtensions,
        extension('2.5.29.14', der(TAG.octetString, keyIdentifier(publicKey))),
        extension('2.5.29.17', der(TAG.sequence, der(0x86, utf8(uri)))),
      ]
      return der(
        TAG.sequence,
        VERSION_3,
        der(TAG.integer, unsigned(serial)),
        ECDSA_WITH_SHA256,
        issuerName,
        der(TAG.sequence, time(notBefore), time(notAfter)),
        encodeSubject(subject),
        publicKey,
        der(0xa3, der(TAG.sequence, ...extensions)),
      )
    },
    finish: (toBeSigned, signature) =>
      der(
        TAG.sequence,
        toBeSigned,
        ECDSA_WITH_SHA256,
        der(TAG.bitString, Buffer.from([0]), signature),
      ),
  }
}

/** Name and key identifier as they stand in the CA's own certificate: verifiers find it by comparing bytes. */
function readIssuer(certificate: X509Certificate): { name: Uint8Array; keyIdentifier: Uint8Array } {
  const [signed] = readChildren(readDer(certificate.raw), TAG.sequence) ?? []
  const parts = readChildren(signed, TAG.sequence) ?? []
  const name = parts[5]
  const [extensions] =
    readChildren(
      parts.find(({ tag }) => tag === 0xa3),
      0xa3,
    ) ?? []
  const identifiers = readChildren(extensions, TAG.sequence)?.flatMap((one) => {
    const [id, value] = readChildren(one, TAG.sequence) ?? []
    const isIdentifier = id !== undefined && Buffer.from(id.raw).equals(SUBJECT_KEY_IDENTIFIER)
    return isIdentifier && value !== undefined ? [readDer(value.content)] : []
  })
  const keyIdentifier = identifiers?.[0]?.content
  if (name === undefined || keyIdentifier === undefined) {
    throw new Error('the certificate of the issuing CA has no name or no key identifier')
  }
  return { name: name.raw, keyIdentifier }
}

const SUBJECT_KEY_IDENTIFIER = oid('2.5.29.14')

function extension(id: string, value: Uint8Array, critical?: 'critical'): Uint8Array {
  const flag = critical === undefined ? [] : [TRUE]
  return der(TAG.sequence, oid(id), ...flag, der(TAG.octetString, value))
}

/** RFC 7093 §2 (1): the left 160 bits of the SHA-256 of the key. */
function keyIdentifier(spki: Uint8Array): Uint8Array {
  return sha256(spki).subarray(0, 20)
}

/** A leading 1-bit would make the number negative. */
function unsigned(bytes: Uint8Array): Uint8Array {
  return ((bytes[0] ?? 0) & 0x80) === 0 ? minimal(bytes) : Buffer.concat([Buffer.from([0]), bytes])
}

/** X.690 §8.3.2: no zero bytes in front that say nothing. */
function minimal(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0 && ((bytes[start + 1] ?? 0) & 0x80) === 0) {
    start += 1
  }
  return bytes.subarray(start)
}

/** RFC 5280 §4.1.2.5: two digits for the year until 2049. */
function time(at: Instant): Uint8Array {
  const digits = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '')
  return digits < '2050'
    ? der(TAG.utcTime, utf8(digits.slice(2)))
    : der(TAG.generalizedTime, utf8(digits))
}

function encodeSubject(parts: readonly SubjectPart[]): Uint8Array {
  const sets = parts.map(({ name, value }) => {
    const tag = name === 'C' ? TAG.printableString : TAG.utf8String // RFC 5280 appendix A.1
    return der(TAG.set, der(TAG.sequence, SUBJECT_OIDS[name], der(tag, utf8(value))))
  })
  return der(TAG.sequence, ...sets)
}
