/**
 * A certificate request: PKCS #10, RFC 2986. With a name and a key and nothing else, since a server of this kind takes
 * nothing else from it (D-40).
 */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { der, oid, TAG } from '../../base/der.ts'
import { utf8 } from '../../base/encoding.ts'

const COMMON_NAME = oid('2.5.4.3')
const VERSION_1 = der(TAG.integer, Buffer.from([0]))
const NO_ATTRIBUTES = der(0xa0)
const NULL = der(0x05)

/** RFC 5280 appendix A.1: ub-common-name. */
export const LONGEST_COMMON_NAME = 64

interface Algorithm {
  readonly identifier: Uint8Array
  /** Of `sign`; null where the algorithm has its own. */
  readonly hash: string | null
}

/** RFC 5758 §3.2, RFC 4055 §5, RFC 8410 §3. */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  ec: { identifier: der(TAG.sequence, oid('1.2.840.10045.4.3.2')), hash: 'sha256' },
  rsa: { identifier: der(TAG.sequence, oid('1.2.840.113549.1.1.11'), NULL), hash: 'sha256' },
  ed25519: { identifier: der(TAG.sequence, oid('1.3.101.112')), hash: null },
}

/** In PEM. Throws a TypeError for a key that signs no requests. */
export function makeCsr(key: KeyObject, commonName: string): string {
  const algorithm = ALGORITHMS[key.asymmetricKeyType ?? '']
  if (key.type !== 'private' || algorithm === undefined) {
    throw new TypeError('the key is no private key of RSA, of an elliptic curve or of Ed25519')
  }
  const length = [...commonName].length
  if (length === 0 || length > LONGEST_COMMON_NAME) {
    throw new TypeError(`a common name has 1 to ${LONGEST_COMMON_NAME} characters`)
  }
  const info = der(
    TAG.sequence,
    VERSION_1,
    nameOf(commonName),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    NO_ATTRIBUTES,
  )
  const signature = sign(algorithm.hash, info, key)
  const bits = der(TAG.bitString, Buffer.from([0]), signature)
  return pem(der(TAG.sequence, info, algorithm.identifier, bits))
}

function nameOf(commonName: string): Uint8Array {
  const attribute = der(TAG.sequence, COMMON_NAME, der(TAG.utf8String, utf8(commonName)))
  return der(TAG.sequence, der(TAG.set, attribute))
}

function pem(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,64}/g)
  const label = 'CERTIFICATE REQUEST'
  return `-----BEGIN ${label}-----\n${(lines ?? []).join('\n')}\n-----END ${label}-----\n`
}
