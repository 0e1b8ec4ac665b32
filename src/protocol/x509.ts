/**
 * What certificates (RFC 5280) and certificate requests (RFC 2986) have in common: the object identifiers, names, and
 * the structure around signed bytes. Clients write requests with it, the service reads them and writes certificates.
 */
import { der, oid, TAG } from '../base/der.ts'
import { utf8 } from '../base/encoding.ts'

/** D-40: the parts of a subject that a certificate takes over. */
export const SUBJECT_NAMES = ['CN', 'O', 'OU', 'L', 'ST', 'C'] as const
export type SubjectName = (typeof SUBJECT_NAMES)[number]

export interface SubjectPart {
  readonly name: SubjectName
  readonly value: string
}

/** X.520 §6. */
export const ATTRIBUTE: Readonly<Record<SubjectName, string>> = {
  CN: '2.5.4.3',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  L: '2.5.4.7',
  ST: '2.5.4.8',
  C: '2.5.4.6',
}

/** RFC 5280 §4.2.1. */
export const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  certificatePolicies: '2.5.29.32',
  policyMappings: '2.5.29.33',
  authorityKeyIdentifier: '2.5.29.35',
  policyConstraints: '2.5.29.36',
  extendedKeyUsage: '2.5.29.37',
  inhibitAnyPolicy: '2.5.29.54',
} as const

/** Extended key usages, RFC 5280 §4.2.1.12. */
export const PURPOSE = {
  any: '2.5.29.37.0',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

export interface SignatureAlgorithm {
  readonly oid: string
  /** Node's name for the keys that sign with it. */
  readonly keyType: string
  /** Null if the algorithm includes its own hash. */
  readonly hash: string | null
}

export const ECDSA_WITH_SHA256 = {
  oid: '1.2.840.10045.4.3.2',
  keyType: 'ec',
  hash: 'sha256',
} as const satisfies SignatureAlgorithm

/**
 * D-118: the signature algorithms of requests; for each type of key, the first is the one that we sign with. Neither
 * MD5 nor SHA-1: an attacker can make two certificates that share one signature. No RSASSA-PSS either, which no tool
 * uses for a request by default. RFC 5758 §3.2, RFC 4055 §5, RFC 8410 §3.
 */
export const SIGNATURE_ALGORITHMS: readonly SignatureAlgorithm[] = [
  ECDSA_WITH_SHA256,
  { oid: '1.2.840.10045.4.3.3', keyType: 'ec', hash: 'sha384' },
  { oid: '1.2.840.10045.4.3.4', keyType: 'ec', hash: 'sha512' },
  { oid: '1.2.840.113549.1.1.11', keyType: 'rsa', hash: 'sha256' },
  { oid: '1.2.840.113549.1.1.12', keyType: 'rsa', hash: 'sha384' },
  { oid: '1.2.840.113549.1.1.13', keyType: 'rsa', hash: 'sha512' },
  { oid: '1.3.101.112', keyType: 'ed25519', hash: null },
]

/** RFC 5280 appendix A.1, ub-common-name: in characters. */
export const LONGEST_COMMON_NAME = 64

const NULL = der(0x05)

/** RFC 4055 §5: RSA has a NULL after the identifier, the others have nothing. */
export function encodeAlgorithm({ oid: id, keyType }: SignatureAlgorithm): Uint8Array {
  return der(TAG.sequence, oid(id), ...(keyType === 'rsa' ? [NULL] : []))
}

/** A name with one set for each part, in their order. RFC 5280 §4.1.2.4. */
export function encodeName(parts: readonly SubjectPart[]): Uint8Array {
  const sets = parts.map(({ name, value }) => {
    const tag = name === 'C' ? TAG.printableString : TAG.utf8String // RFC 5280 appendix A.1
    return der(TAG.set, der(TAG.sequence, oid(ATTRIBUTE[name]), der(tag, utf8(value))))
  })
  return der(TAG.sequence, ...sets)
}

/** RFC 5280 §4.1.1, RFC 2986 §4.2: the signed bytes, how they were signed, and the signature. */
export function encodeSigned(
  toBeSigned: Uint8Array,
  algorithm: Uint8Array,
  signature: Uint8Array,
): Uint8Array {
  return der(TAG.sequence, toBeSigned, algorithm, der(TAG.bitString, Buffer.from([0]), signature))
}
