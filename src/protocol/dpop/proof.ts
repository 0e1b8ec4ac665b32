/**
 * Checks a DPoP proof: RFC 9449 §4.3. The controller and the router library both use this function. Everything that is
 * cheap comes first, so that a signature is computed only for a proof that would otherwise be accepted; whether the
 * proof was used before is left to the caller, who remembers it.
 */
import { constants, type KeyObject, type VerifyKeyObjectInput, verify } from 'node:crypto'
import { base64url, fromBase64url, sha256 } from '../../base/encoding.ts'
import { isJsonObject, isText, type JsonObject, parseJson } from '../../base/json.ts'
import { type Duration, hours } from '../../base/time/duration.ts'
import { epochSeconds, type Instant } from '../../base/time/instant.ts'
import { DPOP_ALGORITHMS, type DpopAlgorithm, readProofKey } from './public-jwk.ts'
import { isSameTarget } from './target-uri.ts'

/** RFC 9449 §4.2. */
const PROOF_TYP = 'dpop+jwt'

/** A proof with the largest allowed key has 2,100 characters. */
const LONGEST_PROOF = 4_096
const LONGEST_JTI = 256
/** `jwk` is inside the header. */
const DEEPEST = 3

/**
 * D-451: how far `iat` may be from our time, with a nonce. The nonce says how fresh a proof is (RFC 9449 §4.3, check 11), so
 * clients whose clock is wrong can log in.
 */
const PROOF_SKEW: Duration = hours(24)

export interface ExpectedProof {
  readonly method: string
  /** The URI that the request was sent to. */
  readonly target: string
  readonly now: Instant
  /** The access token that comes with it; undefined at the token endpoint, where `ath` is not checked. */
  readonly accessToken: string | undefined
  /** Undefined if no nonce is required. */
  readonly isNonce?: (nonce: string) => boolean
  /** Default: PROOF_SKEW, for proofs with a nonce. */
  readonly skew?: Duration
}

export interface ValidProof {
  readonly outcome: 'valid'
  readonly jkt: string
  readonly jti: string
}

/** `nonce`: it is missing or not a current one, and the client must try again with one (RFC 9449 §8). */
export type ProofVerdict =
  | ValidProof
  | { readonly outcome: 'nonce' }
  | { readonly outcome: 'invalid'; readonly why: string }

export async function checkProof(proof: string, expected: ExpectedProof): Promise<ProofVerdict> {
  if (proof.length > LONGEST_PROOF) return invalid('it is too long')
  const [head, body, signature, ...rest] = proof.split('.')
  if (head === undefined || body === undefined || signature === undefined || rest.length > 0) {
    return invalid('it is not a JWT')
  }
  const header = readPart(head)
  const claims = readPart(body)
  const bytes = fromBase64url(signature)
  if (header === undefined || claims === undefined || bytes === undefined) {
    return invalid('it is not a JWT')
  }
  if (header['typ'] !== PROOF_TYP) return invalid(`its typ is not ${PROOF_TYP}`)
  const algorithm = DPOP_ALGORITHMS.find((one) => one === header['alg'])
  if (algorithm === undefined) return invalid('its alg is not one of the supported ones')
  // RFC 7515 §4.1.11: an extension that is critical and that we do not know.
  if ('crit' in header) return invalid('its header has crit')

  const { htm, htu, iat, jti, ath, nonce } = claims
  if (!isText(jti) || jti.length > LONGEST_JTI) return invalid('its jti is missing or too long')
  if (htm !== expected.method) return invalid('its htm is not the method of the request')
  if (typeof htu !== 'string' || !isSameTarget(htu, expected.target)) {
    return invalid('its htu is not the address of the request')
  }
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return invalid('its iat is missing')
  const age = epochSeconds(expected.now) - iat
  const { accessToken, isNonce, skew = PROOF_SKEW } = expected
  if (Math.abs(age) > skew / 1_000) return invalid('its iat is too far from now')
  if (accessToken !== undefined && ath !== accessTokenHash(accessToken)) {
    return invalid('its ath is not the hash of the access token')
  }
  if (nonce !== undefined && typeof nonce !== 'string') return invalid('its nonce is not a text')
  if (isNonce !== undefined && (nonce === undefined || !isNonce(nonce))) return { outcome: 'nonce' }

  const proofKey = readProofKey(header['jwk'], algorithm)
  if (proofKey === undefined) {
    return invalid('its jwk is not a public key for its alg, of an allowed size')
  }
  const isGenuine = await verifySignature(algorithm, proofKey.key, `${head}.${body}`, bytes)
  if (!isGenuine) return invalid('its signature is wrong')
  return { outcome: 'valid', jkt: proofKey.jkt, jti }
}

/** RFC 9449 §4.2: the value of `ath`. */
function accessTokenHash(accessToken: string): string {
  return base64url(sha256(accessToken))
}

/** RFC 9449 §10: base64url of 32 bytes, as `dpop_jkt` has it. */
export function isKeyThumbprint(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text)
}

function readPart(part: string): JsonObject | undefined {
  const value = parseJson(fromBase64url(part), DEEPEST)?.value
  return isJsonObject(value) ? value : undefined
}

const DIGESTS: Readonly<Record<DpopAlgorithm, string | null>> = {
  ES256: 'sha256',
  ES384: 'sha384',
  PS256: 'sha256',
  RS256: 'sha256',
  EdDSA: null,
  Ed25519: null,
}

/** In the thread pool: the event loop does not wait for it. */
function verifySignature(
  algorithm: DpopAlgorithm,
  key: KeyObject,
  signed: string,
  signature: Uint8Array,
): Promise<boolean> {
  // RFC 7518 §3.4, §3.5.
  const input: VerifyKeyObjectInput = {
    key,
    dsaEncoding: 'ieee-p1363',
    ...(algorithm === 'PS256'
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {}),
  }
  return new Promise((resolve) => {
    verify(DIGESTS[algorithm], Buffer.from(signed), input, signature, (error, isGenuine) =>
      resolve(error === null && isGenuine),
    )
  })
}

function invalid(why: string): ProofVerdict {
  return { outcome: 'invalid', why }
}
