/**
 * The public key of a certificate request, RFC 5280 §4.1.2.7. It is copied into the certificate byte for byte, so these
 * bytes must be exactly a key of D-40: no explicit curve parameters instead of a named curve (RFC 5480 §2.1.1), and
 * nothing after the numbers of an RSA key (R097). OpenSSL alone would accept all of that.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { type DerValue, der, oid, readBits, readChildren, readDer, TAG } from '../../../base/der.ts'
import { keyObjectFault } from '../paths/key-strength.ts'

/** Returns the key, or what is wrong with it as the end of a sentence about it. */
export function readPublicKey(spki: DerValue): KeyObject | string {
  let key: KeyObject
  try {
    key = createPublicKey({ key: Buffer.from(spki.raw), format: 'der', type: 'spki' })
  } catch {
    return 'cannot be read'
  }
  const weakness = keyObjectFault(key)
  if (weakness !== undefined) return weakness
  const algorithms = ALGORITHMS.get(key.asymmetricKeyType)
  if (algorithms === undefined) return 'is of a kind that is not accepted'
  const [algorithm, bits, ...more] = readChildren(spki, TAG.sequence) ?? []
  const isPlain =
    algorithms.some((one) => algorithm !== undefined && Buffer.from(algorithm.raw).equals(one)) &&
    more.length === 0 &&
    (key.asymmetricKeyType !== 'rsa' || isRsaKey(readBits(bits)))
  return isPlain ? key : 'is not encoded as RFC 5280 requires'
}

const NULL = der(0x05)

function algorithm(id: string, ...parameters: readonly Uint8Array[]): Uint8Array {
  return der(TAG.sequence, oid(id), ...parameters)
}

/**
 * D-40: the only accepted algorithm encodings, by Node's name for each. RFC 3279 §2.3.1, RFC 5480 §2.1, RFC 8410 §3.
 */
const ALGORITHMS: ReadonlyMap<string | undefined, readonly Uint8Array[]> = new Map([
  ['rsa', [algorithm('1.2.840.113549.1.1.1', NULL)]],
  [
    'ec',
    ['1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35'].map((curve) =>
      algorithm('1.2.840.10045.2.1', oid(curve)),
    ),
  ],
  ['ed25519', [algorithm('1.3.101.112')]],
])

/**
 * Modulus, exponent and nothing after them. The kind of an EC or Ed25519 key fixes its length; an RSA key's does not.
 */
function isRsaKey(bytes: Uint8Array | undefined): boolean {
  const numbers = bytes && readChildren(readDer(bytes), TAG.sequence)
  return numbers?.length === 2 && numbers.every(({ tag }) => tag === TAG.integer)
}
