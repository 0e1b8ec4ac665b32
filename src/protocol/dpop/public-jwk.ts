/**
 * The public key inside a DPoP proof. Anyone may send one, so its kind and size are limited before anything is computed
 * with it: RFC 9449 §4.3 and §11.6; RFC 7638 for the thumbprint that tokens are bound to.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { base64url, fromBase64url, sha256 } from '../../base/encoding.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'

/** Asymmetric algorithms alone (RFC 9449 §4.2). `EdDSA` is Ed25519, which RFC 9864 also names `Ed25519`. */
export const DPOP_ALGORITHMS = ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const
export type DpopAlgorithm = (typeof DPOP_ALGORITHMS)[number]

export interface ProofKey {
  readonly key: KeyObject
  /** RFC 7638 with SHA-256, base64url: the value of `cnf.jkt`. */
  readonly jkt: string
}

/** Private members of any kind of key: RFC 7518 §6.2.2, §6.3.2, §6.4.1; RFC 8037 §2. */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const

const CURVES: Readonly<Partial<Record<DpopAlgorithm, { crv: string; bytes: number }>>> = {
  ES256: { crv: 'P-256', bytes: 32 },
  ES384: { crv: 'P-384', bytes: 48 },
}

/** 2048 to 4096 bits. */
const RSA_BYTES = { least: 256, most: 512 } as const
/** A larger exponent makes verification slow; 65537 is what everyone uses. */
const RSA_EXPONENT = 'AQAB'

/** Returns undefined if it is not a public key for this algorithm, of an allowed size. */
export function readProofKey(jwk: unknown, algorithm: DpopAlgorithm): ProofKey | undefined {
  if (!isJsonObject(jwk) || PRIVATE.some((name) => name in jwk)) return undefined
  const members = publicMembers(jwk, algorithm)
  if (members === undefined) return undefined
  try {
    // Only the members that define the key: nothing else that the sender wrote reaches the library.
    const key = createPublicKey({ key: members, format: 'jwk' })
    return { key, jkt: base64url(sha256(JSON.stringify(members))) }
  } catch {
    return undefined
  }
}

/** The required members in lexicographic order, as RFC 7638 §3.2 hashes them. */
function publicMembers(
  { kty, crv, x, y, n, e }: JsonObject,
  algorithm: DpopAlgorithm,
): Record<string, string> | undefined {
  const curve = CURVES[algorithm]
  if (curve !== undefined) {
    if (kty !== 'EC' || crv !== curve.crv) return undefined
    if (!isBytes(x, curve.bytes) || !isBytes(y, curve.bytes)) return undefined
    return { crv, kty, x, y }
  }
  if (algorithm === 'EdDSA' || algorithm === 'Ed25519') {
    return kty === 'OKP' && crv === 'Ed25519' && isBytes(x, 32) ? { crv, kty, x } : undefined
  }
  const isRsa = kty === 'RSA' && e === RSA_EXPONENT
  return isRsa && isBytes(n, RSA_BYTES.least, RSA_BYTES.most) ? { e, kty, n } : undefined
}

function isBytes(value: unknown, least: number, most = least): value is string {
  // Base64 needs four characters for three bytes.
  if (typeof value !== 'string' || value.length > Math.ceil((most * 4) / 3)) return false
  const bytes = fromBase64url(value)
  return bytes !== undefined && bytes.length >= least && bytes.length <= most
}
