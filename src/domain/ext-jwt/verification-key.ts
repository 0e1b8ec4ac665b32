/**
 * Keys of external signers that verify signatures: which ones are strong enough, and for which algorithms of their type
 * (R053, R107). signer-keys.ts fetches them. A server key that signs invitations is judged by the same rule.
 */
import { createPublicKey, type JsonWebKeyInput, type KeyObject, X509Certificate } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { attempt } from '../../base/node/attempt.ts'
import { type Instant, instant } from '../../base/time/instant.ts'

const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const

/** The only list of algorithms for external JWTs: asymmetric signature algorithms (R053). */
export const EXTERNAL_JWT_ALGORITHMS = [...RSA, 'ES256', 'ES384', 'ES512', 'EdDSA'] as const
export type ExternalJwtAlgorithm = (typeof EXTERNAL_JWT_ALGORITHMS)[number]

export interface VerificationKey {
  readonly kid: string | undefined
  readonly algorithms: readonly ExternalJwtAlgorithm[]
  readonly publicKey: KeyObject
}

export interface CertificateKey extends Omit<VerificationKey, 'kid'> {
  readonly notBefore: Instant
  readonly notAfter: Instant
}

// RFC 7518 §3.3.
const LEAST_RSA_BITS = 2048

const LONGEST_KID = 256

/** Returns the key of one member of a JWK set, or undefined if we cannot verify signatures with it. RFC 7517 §4. */
export function keyFromJwk(jwk: unknown): VerificationKey | undefined {
  if (!isJsonObject(jwk)) return undefined
  const { kid, use, alg, key_ops: operations } = jwk
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > LONGEST_KID)) return undefined
  if (use !== undefined && use !== 'sig') return undefined
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    return undefined
  }
  const publicKey = importPublic(jwk)
  if (publicKey === undefined) return undefined
  const algorithms = algorithmsOf(publicKey).filter((one) => alg === undefined || one === alg)
  return algorithms.length === 0 ? undefined : { kid, algorithms, publicKey }
}

/**
 * Returns the key of a certificate in PEM, or undefined if it is not valid or we cannot verify signatures with its key.
 */
export function keyFromCertificate(pem: string): CertificateKey | undefined {
  try {
    const { publicKey, validFromDate, validToDate } = new X509Certificate(pem)
    const algorithms = algorithmsOf(publicKey)
    if (algorithms.length === 0) return undefined
    const notBefore = instant(validFromDate.getTime())
    return { algorithms, publicKey, notBefore, notAfter: instant(validToDate.getTime()) }
  } catch {
    return undefined
  }
}

/** RFC 7518 §6: copies only the public members by name, so that a private one is never kept. */
function importPublic({ kty, crv, x, y, n, e }: JsonObject): KeyObject | undefined {
  const members = kty === 'RSA' ? { n, e } : kty === 'EC' ? { crv, x, y } : { crv, x }
  if (typeof kty !== 'string' || !['RSA', 'EC', 'OKP'].includes(kty)) return undefined
  if (!Object.values(members).every((member) => typeof member === 'string')) return undefined
  return attempt(() =>
    createPublicKey({ key: { kty, ...members } as JsonWebKeyInput['key'], format: 'jwk' }),
  )
}

/**
 * RFC 7518 §3.1, RFC 8037 §3.1: what this key can sign or verify, the most common first; empty if it is too weak or of
 * another kind.
 */
export function algorithmsOf(key: KeyObject): readonly ExternalJwtAlgorithm[] {
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'rsa':
      // With the exponent 1, anyone can forge a signature.
      return modulusLength >= LEAST_RSA_BITS && publicExponent >= 3n ? RSA : []
    case 'ec':
      if (namedCurve === 'prime256v1') return ['ES256']
      if (namedCurve === 'secp384r1') return ['ES384']
      return namedCurve === 'secp521r1' ? ['ES512'] : []
    case 'ed25519':
      return ['EdDSA']
    default:
      return []
  }
}
