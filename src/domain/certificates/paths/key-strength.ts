/** The public keys that we accept in certificates: those of D-40. The key of every certificate on a path is checked. */
import type { KeyObject, X509Certificate } from 'node:crypto'

const CURVES: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

const SHORTEST_RSA_BITS = 2048
/** Verifying with a longer key takes so long that an anonymous caller could keep us busy with it. */
const LONGEST_RSA_BITS = 8192

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
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss':
      if (modulusLength < SHORTEST_RSA_BITS) return `has only ${modulusLength} bits of RSA`
      return modulusLength > LONGEST_RSA_BITS
        ? `has ${modulusLength} bits of RSA, too many`
        : undefined
    case 'ec':
      return CURVES.has(namedCurve) ? undefined : 'is on a curve that is not accepted'
    case 'ed25519':
    case 'ed448':
      return undefined
    default:
      return 'is of a kind that is not accepted'
  }
}
