/**
 * Whether a JWT of somebody else counts here, and whom it names: signature, times, issuer, audience and claim,
 * all of them and always (SPEC Authentication Policy fields referenced; API 4.5, R104). Which signer a token
 * belongs to is told by its issuer, and which identity its claim is, elsewhere.
 */
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import type { Clock } from '../../base/clock.ts'
import { inSeconds, seconds } from '../../base/duration.ts'
import { epochSeconds, type Instant } from '../../base/instant.ts'
import type { Secret } from '../../base/secret.ts'
import { claimedIssuer } from '../tokens/claimed-issuer.ts'
import { claimedSubject } from './claim.ts'
import type { ExternalJwtSigner } from './signer.ts'
import type { SignerKeyCache, WantedKey } from './signer-keys.ts'
import { EXTERNAL_JWT_ALGORITHMS, type ExternalJwtAlgorithm } from './verification-key.ts'

export type ExternalJwtVerdict =
  /** What the signer's `claimsProperty` holds. */
  | { readonly verdict: 'accepted'; readonly subject: string }
  /** `expired`: everything else about it is good. `why` is for the log, and has nothing of the token in it. */
  | { readonly verdict: 'expired' | 'invalid'; readonly why: string }

/** Never rejects because of a token. */
export type VerifyExternalJwt = (
  signer: ExternalJwtSigner,
  token: Secret,
) => Promise<ExternalJwtVerdict>

/** More than any IdP sends, and less than a header may hold (D-44, R059). */
const MOST_CHARACTERS = 16 * 1024

/** R056: for the clocks of others. Our own tokens get none (D-35). */
const LEEWAY = seconds(60)

export function createVerifyExternalJwt(deps: {
  readonly clock: Clock
  readonly signerKeys: Pick<SignerKeyCache, 'keyFor'>
}): VerifyExternalJwt {
  const { clock, signerKeys } = deps
  return async (signer, token) => {
    const text = token.reveal()
    if (text.length > MOST_CHARACTERS) return invalid('the token is too long')
    const issuer = claimedIssuer(token)
    if (issuer === undefined) return invalid('the token is no JWT that can be read')
    // Before anything is fetched for it.
    if (issuer !== signer.issuer) return invalid('the issuer is not the one of the signer')
    const header = readHeader(text)
    if ('why' in header) return invalid(header.why)
    const found = await signerKeys.keyFor(signer, header)
    if ('why' in found) return invalid(found.why)

    const now = clock.now()
    try {
      const { payload } = await jwtVerify(text, found.key, {
        algorithms: [header.alg],
        issuer: [signer.issuer],
        audience: [signer.audience],
        requiredClaims: ['exp'],
        clockTolerance: inSeconds(LEEWAY),
        currentDate: new Date(now),
      })
      return judgeClaims(payload, signer, now)
    } catch (error) {
      // jose looks at the expiry last, after the signature and every claim that it checks.
      if (error instanceof errors.JWTExpired) {
        const rest = judgeClaims(error.payload, signer, now)
        return rest.verdict === 'accepted'
          ? { verdict: 'expired', why: 'the token has expired' }
          : rest
      }
      if (error instanceof errors.JOSEError || error instanceof TypeError) {
        return invalid(reasonOf(error))
      }
      throw error
    }
  }
}

function invalid(why: string): ExternalJwtVerdict {
  return { verdict: 'invalid', why }
}

/**
 * Of a text that `claimedIssuer` could read. Only alg and kid choose the key; jku, x5u, jwk and x5c are never read
 * (R054).
 */
function readHeader(text: string): WantedKey | { readonly why: string } {
  const header: Readonly<Record<string, unknown>> = decodeProtectedHeader(text)
  const { alg, kid, crit } = header
  if (crit !== undefined) return { why: 'the header demands an extension (crit)' }
  if (!isAllowed(alg)) return { why: 'the algorithm is not allowed' }
  if (kid !== undefined && typeof kid !== 'string') return { why: 'the kid is no text' }
  return { alg, kid }
}

function isAllowed(alg: unknown): alg is ExternalJwtAlgorithm {
  return EXTERNAL_JWT_ALGORITHMS.some((allowed) => allowed === alg)
}

/** What jose does not look at: a time of issue that is yet to come, times without end, and the claim. */
function judgeClaims(
  claims: JWTPayload,
  signer: ExternalJwtSigner,
  now: Instant,
): ExternalJwtVerdict {
  const { iat, exp } = claims
  if (!Number.isFinite(exp)) return invalid('the claim exp is refused')
  if (iat !== undefined && !(iat <= epochSeconds(now) + inSeconds(LEEWAY))) {
    return invalid('the claim iat is refused')
  }
  const subject = claimedSubject(claims, signer.claimsProperty)
  if (subject === undefined) return invalid("the signer's claim is missing or names nobody")
  return { verdict: 'accepted', subject }
}

/** In our words: those of the library can quote the token. */
function reasonOf(error: Error): string {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'the signature is wrong'
  if (error instanceof errors.JWTClaimValidationFailed) {
    const claim = ['iss', 'aud', 'exp', 'nbf', 'iat'].find((name) => name === error.claim)
    return claim === undefined ? 'a claim is refused' : `the claim ${claim} is refused`
  }
  return 'the token cannot be verified'
}
