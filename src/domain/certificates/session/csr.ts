/**
 * The certificate request for an API session certificate. SPEC API Session Certificates; D-40. We take only the public
 * key, which its signature proves, and six parts of the subject. Everything else is ignored, so nothing can be smuggled
 * into the certificate (R097). PKCS #10 is RFC 2986.
 */
import { type KeyObject, verify } from 'node:crypto'
import { type DerValue, isOid, readBits, readChildren, readDer, TAG } from '../../../base/der.ts'
import { fromUtf8 } from '../../../base/encoding.ts'
import { attempt } from '../../../base/node/attempt.ts'
import {
  ATTRIBUTE,
  SIGNATURE_ALGORITHMS,
  SUBJECT_NAMES,
  type SubjectName,
  type SubjectPart,
} from '../../../protocol/x509.ts'
import { readPublicKey } from './public-key.ts'

export interface CertificateRequest {
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array
  /** In the order of the request. */
  readonly subject: readonly SubjectPart[]
}

/** D-40. */
export const LARGEST_CSR = 16 * 1024

/** RFC 5280 appendix A.1 limits them to 64 to 128; anything longer is not a name. */
const LONGEST_PART = 128

/** Returns the request, or a message for the caller about what is wrong with it. */
export function readCsr(pem: string): CertificateRequest | { readonly fault: string } {
  if (Buffer.byteLength(pem) > LARGEST_CSR) return { fault: 'is larger than 16 KiB' }
  const blocks = pem.split('-----BEGIN ').length - 1
  if (blocks > 1) return { fault: 'has more than one PEM block' }
  const bytes = readPem(pem)
  if (bytes === undefined) return { fault: 'is not one PEM block CERTIFICATE REQUEST' }
  const parts = readStructure(bytes)
  if (parts === undefined) return { fault: 'is not a PKCS #10 request in DER' }

  const key = readPublicKey(parts.publicKey)
  if (typeof key === 'string') return { fault: `has a key that ${key}` }
  const hash = hashOf(parts.algorithm, key)
  if (hash === undefined) return { fault: 'is signed with an algorithm that is not accepted' }
  if (!isSigned(parts, key, hash)) return { fault: 'is not signed by its own key' }
  const subject = readSubject(parts.subject)
  if (subject === undefined) return { fault: 'has a subject that cannot be read' }
  if (subject.length === 0) return { fault: 'has no subject' }
  return { publicKey: parts.publicKey.raw, subject }
}

const BEGIN = '-----BEGIN CERTIFICATE REQUEST-----'
const END = '-----END CERTIFICATE REQUEST-----'

/**
 * Returns the bytes between the two lines. Slices instead of matching, because long runs of blanks make a pattern slow.
 */
function readPem(pem: string): Uint8Array | undefined {
  const start = pem.indexOf(BEGIN)
  const end = pem.indexOf(END, start)
  if (start < 0 || end < 0) return undefined
  const body = pem.slice(start + BEGIN.length, end).replace(/\s/g, '')
  return /^[A-Za-z0-9+/]+={0,2}$/.test(body) ? Buffer.from(body, 'base64') : undefined
}

interface Structure {
  readonly signed: Uint8Array
  readonly subject: DerValue
  readonly publicKey: DerValue
  readonly algorithm: DerValue
  readonly signature: Uint8Array
}

/** RFC 2986 §4. */
function readStructure(bytes: Uint8Array): Structure | undefined {
  const [info, algorithm, bits, ...more] = readChildren(readDer(bytes), TAG.sequence) ?? []
  const [version, subject, publicKey] = readChildren(info, TAG.sequence) ?? []
  const signature = readBits(bits)
  if (more.length > 0 || version?.tag !== TAG.integer || signature === undefined) return undefined
  if (info === undefined || algorithm === undefined) return undefined
  if (subject === undefined || publicKey?.tag !== TAG.sequence) return undefined
  return { signed: info.raw, subject, publicKey, algorithm, signature }
}

/** Returns undefined if the algorithm is not accepted, or not for this kind of key. */
function hashOf(algorithm: DerValue, { asymmetricKeyType }: KeyObject): string | null | undefined {
  const [identifier] = readChildren(algorithm, TAG.sequence) ?? []
  return SIGNATURE_ALGORITHMS.find(
    ({ oid: id, keyType }) => keyType === asymmetricKeyType && isOid(identifier, id),
  )?.hash
}

function isSigned({ signed, signature }: Structure, key: KeyObject, hash: string | null): boolean {
  return attempt(() => verify(hash, signed, key, signature)) ?? false
}

/** RFC 5280 §4.1.2.4: a sequence of sets of pairs. Parts that we do not copy are skipped unparsed. */
function readSubject(name: DerValue): readonly SubjectPart[] | undefined {
  const sets = readChildren(name, TAG.sequence)
  const pairs = sets?.map((set) => readChildren(set, TAG.set))
  if (pairs === undefined || pairs.includes(undefined)) return undefined
  const parts: SubjectPart[] = []
  for (const pair of pairs.flatMap((list) => list ?? [])) {
    const [type, text] = readChildren(pair, TAG.sequence) ?? []
    if (type === undefined || text === undefined) return undefined
    const found = SUBJECT_NAMES.find((one) => isOid(type, ATTRIBUTE[one]))
    if (found === undefined) continue
    const value = readText(text)
    if (value === undefined || !isFit(found, value)) return undefined
    parts.push({ name: found, value })
  }
  return parts
}

function readText({ tag, content }: DerValue): string | undefined {
  switch (tag) {
    case TAG.utf8String:
      return fromUtf8(content)
    case TAG.printableString:
    case TAG.ia5String:
      return content.every((byte) => byte < 0x80)
        ? Buffer.from(content).toString('latin1')
        : undefined
    case TAG.t61String:
      return Buffer.from(content).toString('latin1')
    case TAG.bmpString:
      return content.length % 2 === 0
        ? Buffer.from(content).swap16().toString('utf16le')
        : undefined
    default:
      return undefined
  }
}

function isFit(name: SubjectName, value: string): boolean {
  if (value === '' || value.length > LONGEST_PART || !value.isWellFormed()) return false
  if (/\p{Cc}/u.test(value)) return false
  return name !== 'C' || /^[A-Za-z]{2}$/.test(value) // X.520: two letters
}
