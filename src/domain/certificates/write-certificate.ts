/**
 * Writes and signs X.509 certificates (RFC 5280): the CAs of our own PKI, and the server and client certificates below
 * them. The profile fixes what a certificate contains, and nothing else goes in (R098); who gets one is decided
 * elsewhere. Every certificate that the product issues comes from here (D-118, D-272).
 */
import { createHash, generateKeyPair, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { promisify } from 'node:util'
import { der, isOid, oid, readBits, readChildren, readDer, TAG } from '../../base/der.ts'
import { sha256, utf8 } from '../../base/encoding.ts'
import { addressBytes } from '../../base/network.ts'
import type { NonEmpty } from '../../base/non-empty.ts'
import type { Random } from '../../base/secrets/random.ts'
import { minutes } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import {
  ECDSA_WITH_SHA256,
  EXTENSION,
  encodeAlgorithm,
  encodeName,
  encodeSigned,
  PURPOSE,
  type SubjectPart,
} from '../../protocol/x509.ts'
import type { ServerName } from './own/server-name.ts'

export interface CertificateTemplate {
  readonly commonName: string
  readonly publicKey: KeyObject
  readonly notBefore: Instant
  readonly notAfter: Instant
  readonly profile: CertificateProfile
}

export type CertificateProfile =
  | { readonly kind: 'authority'; readonly pathLength?: number }
  | { readonly kind: 'server'; readonly names: NonEmpty<ServerName> }

/** D-40: for an API session, or for an enrolled identity. */
export interface ClientCertificate {
  readonly serial: Uint8Array
  readonly subject: readonly SubjectPart[]
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array
  readonly uri: string
  /** D-391: of a router, whose certificate is for its listener too. */
  readonly names?: readonly ServerName[]
  readonly notBefore: Instant
  readonly notAfter: Instant
}

export interface Issuer {
  readonly certificate: X509Certificate
  readonly privateKey: KeyObject
}

// One curve for the whole PKI: every TLS stack supports it, and it signs fastest.
const CURVE = 'P-256'
const ALGORITHM = encodeAlgorithm(ECDSA_WITH_SHA256)

// RFC 5280 §4.1.2.2 allows 20 octets; 16 fit even with the zero octet that a leading 1-bit adds.
const SERIAL_BYTES = 16

/** D-40: certificates start this long before now, for verifiers whose clock is slightly behind. */
export const BACKDATE = minutes(1)

const generate = promisify(generateKeyPair)

export function newKeyPair(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  return generate('ec', { namedCurve: CURVE })
}

export function newSerial(random: Random): Uint8Array {
  return random.bytes(SERIAL_BYTES)
}

/**
 * Returns a certificate signed by the authority's P-256 key, or by its own when `issuer` is only a key (a root). Throws
 * when it would end before it begins, or when the authority's certificate has no key identifier.
 */
export function signCertificate(
  template: CertificateTemplate,
  issuer: Issuer | Pick<Issuer, 'privateKey'>,
  random: Random,
): X509Certificate {
  const { commonName, profile, notBefore, notAfter } = template
  if (notAfter <= notBefore) {
    throw new Error(`a certificate for "${commonName}" would end before it begins`)
  }
  const subject = encodeName([{ name: 'CN', value: commonName }])
  const publicKey = template.publicKey.export({ format: 'der', type: 'spki' })
  const keyIdentifier = hashOfKey(publicKey)
  const parent =
    'certificate' in issuer ? asIssuer(issuer.certificate) : { name: subject, keyIdentifier }
  const content = {
    serial: newSerial(random),
    subject,
    publicKey,
    keyIdentifier,
    notBefore,
    notAfter,
    extensions: profileExtensions(profile),
  }
  return new X509Certificate(write(content, parent, issuer.privateKey))
}

/**
 * Returns a client certificate in DER, signed by the authority's P-256 key. Takes well under a millisecond, because
 * sessions request certificates often. Throws when the authority's certificate has no key identifier.
 */
export function signClientCertificate(client: ClientCertificate, issuer: Issuer): Uint8Array {
  const { names = [] } = client
  const content = {
    ...client,
    subject: encodeName(client.subject),
    // RFC 7093 §2 (4), truncated to the common 160 bits.
    keyIdentifier: sha256(client.publicKey).subarray(0, 20),
    extensions: [
      ...(names.length === 0 ? CLIENT_EXTENSIONS : ROUTER_EXTENSIONS),
      subjectAltName(der(GENERAL_NAME.uri, utf8(client.uri)), ...names.map(generalName)),
    ],
  }
  return write(content, asIssuer(issuer.certificate), issuer.privateKey)
}

interface Content
  extends Pick<ClientCertificate, 'serial' | 'publicKey' | 'notBefore' | 'notAfter'> {
  readonly subject: Uint8Array
  readonly keyIdentifier: Uint8Array
  /** All extensions except the two key identifiers. */
  readonly extensions: readonly Uint8Array[]
}

interface IssuerFields {
  readonly name: Uint8Array
  readonly keyIdentifier: Uint8Array
}

const VERSION_3 = der(0xa0, der(TAG.integer, Buffer.from([2])))

/** RFC 5280 §4.1. */
function write(content: Content, issuer: IssuerFields, privateKey: KeyObject): Uint8Array {
  const extensions = [
    ...content.extensions,
    extension(EXTENSION.subjectKeyIdentifier, der(TAG.octetString, content.keyIdentifier)),
    extension(EXTENSION.authorityKeyIdentifier, der(TAG.sequence, der(0x80, issuer.keyIdentifier))),
  ]
  const toBeSigned = der(
    TAG.sequence,
    VERSION_3,
    der(TAG.integer, unsigned(content.serial)),
    ALGORITHM,
    issuer.name,
    der(TAG.sequence, time(content.notBefore), time(content.notAfter)),
    content.subject,
    content.publicKey,
    der(0xa3, der(TAG.sequence, ...extensions)),
  )
  return encodeSigned(toBeSigned, ALGORITHM, sign(ECDSA_WITH_SHA256.hash, toBeSigned, privateKey))
}

/** The tags of RFC 5280 §4.2.1.6. */
const GENERAL_NAME = { dns: 0x82, uri: 0x86, ip: 0x87 } as const

const TRUE = der(0x01, Buffer.from([0xff]))

// Key usage, RFC 5280 §4.2.1.3: the count of unused bits, then the bits from the left.
const DIGITAL_SIGNATURE = Buffer.from([7, 0b1000_0000])
const KEY_CERT_SIGN_AND_CRL_SIGN = Buffer.from([1, 0b0000_0110])

const SERVER_EXTENSIONS = leafExtensions(PURPOSE.serverAuth)
const CLIENT_EXTENSIONS = leafExtensions(PURPOSE.clientAuth)
const ROUTER_EXTENSIONS = leafExtensions(PURPOSE.serverAuth, PURPOSE.clientAuth)

function leafExtensions(...purposes: readonly string[]): readonly Uint8Array[] {
  return [
    // An empty sequence: not a CA.
    extension(EXTENSION.basicConstraints, der(TAG.sequence), 'critical'),
    extension(EXTENSION.keyUsage, der(TAG.bitString, DIGITAL_SIGNATURE), 'critical'),
    extension(EXTENSION.extendedKeyUsage, der(TAG.sequence, ...purposes.map(oid))),
  ]
}

function profileExtensions(profile: CertificateProfile): readonly Uint8Array[] {
  if (profile.kind === 'server') {
    return [...SERVER_EXTENSIONS, subjectAltName(...profile.names.map(generalName))]
  }
  const { pathLength } = profile
  const limit =
    pathLength === undefined ? [] : [der(TAG.integer, unsigned(Buffer.from([pathLength])))]
  return [
    extension(EXTENSION.basicConstraints, der(TAG.sequence, TRUE, ...limit), 'critical'),
    extension(EXTENSION.keyUsage, der(TAG.bitString, KEY_CERT_SIGN_AND_CRL_SIGN), 'critical'),
  ]
}

function extension(id: string, value: Uint8Array, critical?: 'critical'): Uint8Array {
  const flag = critical === undefined ? [] : [TRUE]
  return der(TAG.sequence, oid(id), ...flag, der(TAG.octetString, value))
}

function subjectAltName(...names: readonly Uint8Array[]): Uint8Array {
  return extension(EXTENSION.subjectAltName, der(TAG.sequence, ...names))
}

function generalName({ type, value }: ServerName): Uint8Array {
  if (type === 'dns') return der(GENERAL_NAME.dns, utf8(value))
  const address = addressBytes(value)
  if (address === undefined) throw new Error(`"${value}" is not an IP address`)
  return der(GENERAL_NAME.ip, Buffer.from(address))
}

const known = new WeakMap<X509Certificate, IssuerFields>()

/** Parses each CA once, because it signs many certificates. */
function asIssuer(certificate: X509Certificate): IssuerFields {
  const fields = known.get(certificate) ?? readIssuer(certificate)
  known.set(certificate, fields)
  return fields
}

/** Name and key identifier exactly as in the CA's own certificate: verifiers find the CA by comparing bytes. */
function readIssuer(certificate: X509Certificate): IssuerFields {
  const [signed] = readChildren(readDer(certificate.raw), TAG.sequence) ?? []
  const parts = readChildren(signed, TAG.sequence) ?? []
  const name = parts[5]
  const wrapped = parts.find(({ tag }) => tag === 0xa3)
  const [extensions] = readChildren(wrapped, 0xa3) ?? []
  const identifiers = readChildren(extensions, TAG.sequence)?.flatMap((one) => {
    const [id, value] = readChildren(one, TAG.sequence) ?? []
    if (!isOid(id, EXTENSION.subjectKeyIdentifier) || value === undefined) return []
    return [readDer(value.content)]
  })
  const keyIdentifier = identifiers?.[0]?.content
  if (name === undefined || keyIdentifier === undefined) {
    throw new Error('the certificate of the issuing CA has no name or no key identifier')
  }
  return { name: name.raw, keyIdentifier }
}

/**
 * RFC 5280 §4.2.1.2 (1): SHA-1 of the key without its algorithm. It is only an identifier; no security depends on it.
 */
function hashOfKey(spki: Uint8Array): Uint8Array {
  const [, key] = readChildren(readDer(spki), TAG.sequence) ?? []
  const bits = readBits(key)
  if (bits === undefined) throw new Error('the public key is not a SubjectPublicKeyInfo in DER')
  return createHash('sha1').update(bits).digest()
}

/** A leading 1-bit would make the number negative. */
function unsigned(bytes: Uint8Array): Uint8Array {
  return ((bytes[0] ?? 0) & 0x80) === 0 ? minimal(bytes) : Buffer.concat([Buffer.from([0]), bytes])
}

/** X.690 §8.3.2: no redundant leading zero bytes. */
function minimal(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0 && ((bytes[start + 1] ?? 0) & 0x80) === 0) {
    start += 1
  }
  return bytes.subarray(start)
}

/** RFC 5280 §4.1.2.5: years until 2049 have two digits. */
function time(at: Instant): Uint8Array {
  const digits = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '')
  return digits < '2050'
    ? der(TAG.utcTime, utf8(digits.slice(2)))
    : der(TAG.generalizedTime, utf8(digits))
}
