/**
 * The public keys that we accept in certificates and from callers: those of D-40, if verifying with them is cheap
 * (D-321). The key of every certificate on a path is checked.
 */
import type { KeyObject, X509Certificate } from 'node:crypto'

const CURVES: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

const SHORTEST_RSA_BITS = 2048
/** CAs have such keys. With an accepted exponent, they verify faster than a key on P-521. */
const LONGEST_RSA_BITS = 8192
/** With 1, anyone can forge a signature. */
const LEAST_RSA_EXPONENT = 3n
/**
 * Verifying takes longer with every bit of the exponent, and OpenSSL limits it only for keys of more than 3072 bits: to
 * 64 bits. Nearly all keys have 65537; some smart cards have exponents of 31 bits.
 */
const MOST_RSA_EXPONENT = 2n ** 32n

/** Returns what is wrong with the key of this certificate, or undefined if it is accepted. */
export function keyFault(certificate: X509Certificate): string | undefined {
  let key: KeyObject
  try {
    key = certificate.publicKey
  } catch {
    return 'its key cannot be read'
  }
  const fault = keyObjectFault(key)
  return fault && `its key ${fault}`
}

/** Returns what is wrong with this key, as the end of a sentence about it, or undefined if it is accepted. */
export function keyObjectFault(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss':
      if (modulusLength < SHORTEST_RSA_BITS) return `has only ${modulusLength} bits of RSA`
      if (modulusLength > LONGEST_RSA_BITS) return `has ${modulusLength} bits of RSA, too many`
      return isAcceptedExponent(publicExponent)
        ? undefined
        : 'has an RSA exponent that is not accepted'
    case 'ec':
      return CURVES.has(namedCurve) ? undefined : 'is on a curve that is not accepted'
    case 'ed25519':
    case 'ed448':
      return undefined
    default:
      return 'is of a kind that is not accepted'
  }
}

function isAcceptedExponent(exponent: bigint): boolean {
  return exponent >= LEAST_RSA_EXPONENT && exponent < MOST_RSA_EXPONENT && exponent % 2n === 1n
}
