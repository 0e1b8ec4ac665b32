/**
 * Verifies an external JWT and returns whom it names. Always checks signature, times, issuer, audience and claim (SPEC
 * Authentication Policy fields referenced; API 4.5, R104). Other code finds the signer by the token's issuer, and the
 * identity by the claim.
 */
import { errors, type JWTPayload, jwtVerify } from 'jose'
import type { Secret } from '../../base/secrets/secret.ts'
import { inSeconds, seconds } from '../../base/time/duration.ts'
import { epochSeconds, type Instant, minus } from '../../base/time/instant.ts'
import { type ClockOff, clockOff } from '../audit/clock-off.ts'
import { claimedSubject } from './claim.ts'
import { claimedIssuer, claimedParts } from './claimed-issuer.ts'
import type { ExternalJwtPorts } from './ports.ts'
import type { ExternalJwtSigner } from './signer.ts'
import type { WantedKey } from './signer-keys.ts'
import { EXTERNAL_JWT_ALGORITHMS, type ExternalJwtAlgorithm } from './verification-key.ts'

export type ExternalJwtVerdict =
  | {
      readonly verdict: 'accepted'
      /** The value of the claim that the signer's `claimsProperty` names. */
      readonly subject: string
      /**
       * In seconds since the epoch: `auth_time`, or else `iat`, because the authentication cannot be later than that
       * (D-241). Undefined if the token has neither.
       */
      readonly authenticatedAt: number | undefined
    }
  /** `expired`: everything else about it is valid. `why` is for the log and contains nothing of the token. */
  | {
      readonly verdict: 'expired' | 'invalid'
      readonly why: string
      /** Only if nothing but time is wrong (D-325). */
      readonly clock?: ClockOff
    }

/** More than any IdP sends, and less than a header may hold (D-44, R059). */
export const MOST_CHARACTERS = 16 * 1024

/** R056: tolerance for other clocks, where a token may seem to come from the future. Its end has none (D-387). */
export const LEEWAY = seconds(60)

// What jose must require of the claims. check-signer.ts checks each requirement separately.
export const issuerRule = ({ issuer }: ExternalJwtSigner) => ({ issuer: [issuer] })
export const audienceRule = ({ audience }: ExternalJwtSigner) => ({ audience: [audience] })
export const timeRule = (now: Instant) => ({
  requiredClaims: ['exp'],
  clockTolerance: inSeconds(LEEWAY),
  currentDate: new Date(now),
})

/** Never throws because of a token. */
export async function verifyExternalJwt(
  { clock, signerKeys }: Pick<ExternalJwtPorts, 'clock' | 'signerKeys'>,
  signer: ExternalJwtSigner,
  token: Secret,
): Promise<ExternalJwtVerdict> {
  const text = token.reveal()
  const issuer = readIssuer(token)
  if (typeof issuer === 'object' && issuer !== null) return invalid(issuer.why)
  // Check this before anything is fetched for the token.
  if (issuer !== signer.issuer) return invalid('the issuer is not the one of the signer')
  const header = readHeader(token)
  if ('why' in header) return invalid(header.why)
  const found = await signerKeys.keyFor(signer, header)
  if ('why' in found) return invalid(found.why)

  const now = clock.now()
  try {
    const { payload } = await jwtVerify(text, found.key, {
      algorithms: [header.alg],
      ...issuerRule(signer),
      ...audienceRule(signer),
      ...timeRule(now),
    })
    return judgeEnd(payload, signer, now)
  } catch (error) {
    // jose checks the expiry last, after the signature and every other claim.
    if (error instanceof errors.JWTExpired) return judgeEnd(error.payload, signer, now)
    if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf') {
      return { ...invalid(reasonOf(error)), ...earlyBy(error.payload, signer, now) }
    }
    if (error instanceof errors.JOSEError || error instanceof TypeError) {
      return invalid(reasonOf(error))
    }
    throw error
  }
}

/** As `claimedIssuer`; returns why if the text is not a JWT that we can read. */
export function readIssuer(token: Secret): string | null | { readonly why: string } {
  if (token.reveal().length > MOST_CHARACTERS) return { why: 'the token is too long' }
  const issuer = claimedIssuer(token)
  return issuer === undefined ? { why: 'the token is not a readable JWT' } : issuer
}

function invalid(why: string) {
  return { verdict: 'invalid', why } as const
}

/**
 * For a token that `claimedIssuer` could read. Only alg and kid select the key; jku, x5u, jwk and x5c are never read
 * (R054).
 */
export function readHeader(token: Secret): WantedKey | { readonly why: string } {
  const { alg, kid, crit } = claimedParts(token)?.header ?? {}
  if (crit !== undefined) return { why: 'the header demands an extension (crit)' }
  if (!isAllowed(alg)) return { why: 'the algorithm is not allowed' }
  if (kid !== undefined && typeof kid !== 'string') return { why: 'the kid is not text' }
  return { alg, kid }
}

function isAllowed(alg: unknown): alg is ExternalJwtAlgorithm {
  return EXTERNAL_JWT_ALGORITHMS.some((allowed) => allowed === alg)
}

/** For claims of a good signature: `expired` only if nothing else is wrong. */
function judgeEnd(claims: JWTPayload, signer: ExternalJwtSigner, now: Instant): ExternalJwtVerdict {
  const rest = judgeClaims(claims, signer, now)
  if (rest.verdict !== 'accepted' || !hasEnded(claims, now)) return rest
  const clock = clockOff('exp', Number(claims.exp) - epochSeconds(now))
  return { verdict: 'expired', why: 'the token has expired', ...clock }
}

/** Without the leeway that jose allows (D-387). */
export function hasEnded({ exp }: JWTPayload, now: Instant): boolean {
  return Number(exp) <= epochSeconds(now)
}

/** Checks what jose does not: an `iat` in the future, infinite times, and the claim. */
function judgeClaims(
  claims: JWTPayload,
  signer: ExternalJwtSigner,
  now: Instant,
): ExternalJwtVerdict {
  const refused = refusedTime(claims, now)
  const subject = claimedSubject(claims, signer.claimsProperty)
  if (refused !== undefined) {
    const isOnlyTime =
      refused === 'iat' && subject !== undefined && Number(claims.exp) > Number(claims.iat)
    const clock = isOnlyTime ? clockOff('iat', Number(claims.iat) - epochSeconds(now)) : {}
    return { ...invalid(`the claim ${refused} is refused`), ...clock }
  }
  if (subject === undefined)
    return invalid("the signer's claim is missing or does not name an identity")
  const { auth_time: authTime = claims.iat } = claims
  return {
    verdict: 'accepted',
    subject,
    authenticatedAt: typeof authTime === 'number' ? authTime : undefined,
  }
}

/** D-325: jose checks `nbf` after the signature, issuer and audience; what else could be wrong is the claim. */
function earlyBy(claims: JWTPayload, { claimsProperty }: ExternalJwtSigner, now: Instant) {
  const isOnlyTime =
    claimedSubject(claims, claimsProperty) !== undefined && Number(claims.exp) > Number(claims.nbf)
  return isOnlyTime ? clockOff('nbf', Number(claims.nbf) - epochSeconds(now)) : {}
}

/** Returns why a time that a token claims is not between `since` and now, within the leeway (D-241). */
export function ageFault(
  claimed: unknown,
  since: Instant,
  now: Instant,
): 'not-a-time' | 'past' | 'future' | undefined {
  if (typeof claimed !== 'number') return 'not-a-time'
  if (!(claimed >= epochSeconds(minus(since, LEEWAY)))) return 'past'
  return claimed <= epochSeconds(now) + inSeconds(LEEWAY) ? undefined : 'future'
}

/** Returns which time claim is refused, of those that jose accepted. */
export function refusedTime({ iat, exp }: JWTPayload, now: Instant): 'exp' | 'iat' | undefined {
  if (!Number.isFinite(exp)) return 'exp'
  const latest = epochSeconds(now) + inSeconds(LEEWAY)
  return iat !== undefined && !(iat <= latest) ? 'iat' : undefined
}

/** Uses our own messages: those of the library can quote the token. */
function reasonOf(error: Error): string {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'the signature is wrong'
  if (error instanceof errors.JWTClaimValidationFailed) {
    const claim = ['iss', 'aud', 'exp', 'nbf', 'iat'].find((name) => name === error.claim)
    return claim === undefined ? 'a claim is refused' : `the claim ${claim} is refused`
  }
  return 'the token cannot be verified'
}
