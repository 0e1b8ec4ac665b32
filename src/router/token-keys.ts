/**
 * The keys that the controller signs access tokens with, and the check of such a token: the part of D-35 that needs
 * only the token. Other code checks whether it has ended. SPEC Access token; RFC 9068.
 */
import { createPublicKey, type JsonWebKeyInput, type KeyObject } from 'node:crypto'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import { areStrings } from '../base/json.ts'
import { attempt } from '../base/node/attempt.ts'
import { type Instant, instant } from '../base/time/instant.ts'
import {
  ACCESS_TOKEN_TYP,
  ACCESS_TOKEN_TYPE,
  type AccessTokenClaims,
} from '../protocol/service-claims.ts'
import type { LoginUnderPolicy } from './policy-check.ts'
import { readFacts, readRoles, type SessionFacts } from './roles.ts'

export interface TokenKeys {
  verify(token: string, expected: ExpectedToken): Promise<TokenVerdict>
}

export interface ExpectedToken {
  readonly issuers: readonly string[]
  readonly audience: string
  readonly now: Instant
}

export type TokenVerdict =
  | { readonly outcome: 'good'; readonly token: RouterToken }
  /** Valid except for its expiry. */
  | { readonly outcome: 'expired' }
  | { readonly outcome: 'invalid'; readonly why: string }

/** What a router reads in an access token. */
export interface RouterToken {
  readonly sessionId: string
  readonly identityId: string
  readonly tokenId: string
  /** The signing key: if it is withdrawn, connections that were opened with the token are closed (D-135). */
  readonly keyId: string
  readonly expiresAt: Instant
  /** RFC 8705 §3.1: the certificate of the login, as SHA-256 in base64url. */
  readonly boundTo: string | undefined
  /** RFC 9449 §6.1: the key that must be proven with the token. */
  readonly boundKey: string | undefined
  /** Undefined if the token does not have it; tokens of this service always do. */
  readonly login: LoginUnderPolicy | undefined
  readonly facts?: SessionFacts
}

/** The algorithms of a controller (D-23). Nothing symmetric, and no `none` (R053). */
const ALGORITHMS: readonly string[] = ['ES256', 'RS256', 'EdDSA']

/** Longer tokens do not fit in a header anyway. */
const LONGEST_TOKEN = 32 * 1024

/** Undefined if there is no usable key. Keys of unknown algorithms are skipped. */
export function readTokenKeys(
  jwks: readonly Readonly<Record<string, unknown>>[],
): TokenKeys | undefined {
  const keys = new Map<string, { readonly algorithm: string; readonly key: KeyObject }>()
  for (const jwk of jwks) {
    const { kid, alg } = jwk
    if (typeof kid !== 'string' || typeof alg !== 'string' || !ALGORITHMS.includes(alg)) continue
    const key = attempt(() =>
      createPublicKey({ key: jwk as JsonWebKeyInput['key'], format: 'jwk' }),
    )
    if (key !== undefined) keys.set(kid, { algorithm: alg, key })
  }
  if (keys.size === 0) return undefined

  return {
    async verify(token, { issuers, audience, now }) {
      if (token.length > LONGEST_TOKEN) return { outcome: 'invalid', why: 'it is too long' }
      try {
        const { payload, protectedHeader } = await jwtVerify(
          token,
          ({ kid, alg }) => {
            // Each key only for its own algorithm; jku, x5u, jwk and x5c are never read (R053, R054).
            const known = keys.get(kid ?? '')
            if (known === undefined || known.algorithm !== alg) throw new errors.JWKSNoMatchingKey()
            return known.key
          },
          {
            algorithms: [...ALGORITHMS],
            typ: ACCESS_TOKEN_TYP,
            audience,
            issuer: [...issuers],
            currentDate: new Date(now),
            requiredClaims: ['exp', 'sub', 'jti'],
          },
        )
        const read = readClaims(payload, protectedHeader.kid ?? '')
        if (read !== undefined) return { outcome: 'good', token: read }
        return { outcome: 'invalid', why: 'its claims are not those of an access token' }
      } catch (error) {
        // jose checks the times last, so an expired token is otherwise valid (D-35).
        if (error instanceof errors.JWTExpired) return { outcome: 'expired' }
        if (error instanceof errors.JOSEError || error instanceof TypeError) {
          return { outcome: 'invalid', why: error.message }
        }
        throw error
      }
    },
  }
}

function readClaims(payload: JWTPayload, keyId: string): RouterToken | undefined {
  const claims = payload as Partial<Record<keyof AccessTokenClaims, unknown>>
  const { sub, jti, exp, amr, z_t, z_asid, z_ap, z_ejs, z_ca, cnf } = claims
  if (z_t !== ACCESS_TOKEN_TYPE || typeof z_asid !== 'string' || z_asid === '') return undefined
  if (typeof sub !== 'string' || sub === '' || typeof jti !== 'string') return undefined
  if (typeof exp !== 'number') return undefined
  const { 'x5t#S256': thumbprint, jkt } = (cnf ?? {}) as { 'x5t#S256'?: unknown; jkt?: unknown }
  // A confirmation that we cannot check must not be ignored.
  if (jkt !== undefined && typeof jkt !== 'string') return undefined
  return {
    sessionId: z_asid,
    identityId: sub,
    tokenId: jti,
    keyId,
    expiresAt: instant(exp * 1_000),
    boundTo: typeof thumbprint === 'string' ? thumbprint : undefined,
    boundKey: jkt,
    login: readLogin({ amr, z_ap, z_ejs, z_ca }),
    ...readFacts(
      readRoles(claims.roles, claims.z_rv),
      typeof claims.auth_time === 'number' ? instant(claims.auth_time * 1_000) : undefined,
    ),
  }
}

function readLogin(
  claims: Readonly<Record<'amr' | 'z_ap' | 'z_ejs' | 'z_ca', unknown>>,
): LoginUnderPolicy | undefined {
  const { amr, z_ap: policyId, z_ejs, z_ca } = claims
  if (typeof policyId !== 'string' || !areStrings(amr)) return undefined
  const signerId = typeof z_ejs === 'string' ? z_ejs : undefined
  return { policyId, amr, signerId, caId: typeof z_ca === 'string' ? z_ca : undefined }
}
