/**
 * The access token: its claims are built and read here, so that their names and types exist once.
 * SPEC Access token; D-24; RFC 9068.
 */
import type { JWTPayload } from 'jose'
import { type Duration, inSeconds } from '../../base/duration.ts'
import { base64url } from '../../base/encoding.ts'
import type { ApiSessionId, AuthPolicyId, IdentityId } from '../../base/ids.ts'
import { epochSeconds, type Instant, instant } from '../../base/instant.ts'
import type { Random } from '../../base/random.ts'
import { ACCESS_TOKEN_TYPE, type AccessTokenClaims } from '../../protocol/service-claims.ts'
import type { Identity } from '../identities/identity.ts'
import type { ApiSession } from '../sessions/api-session.ts'

/** What an API call knows about its caller without asking the store: SPEC Access token. */
export interface CallSession {
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId
  readonly isAdmin: boolean
  readonly authPolicyId: AuthPolicyId
  readonly configTypes: readonly string[]
  /** When the token, and so the call's right, ends. */
  readonly expiresAt: Instant
}

/** How much of a session one access token carries, and for how long. */
export interface AccessTokenGrant {
  readonly session: Omit<ApiSession, 'expiresAt'>
  readonly identity: Identity
  readonly scope: string
  readonly authTime: Instant
  readonly audience: string
  readonly life: Duration
}

export function accessTokenClaims(
  grant: AccessTokenGrant,
  now: Instant,
  random: Random,
): AccessTokenClaims {
  const { session, identity, scope, authTime, audience, life } = grant
  const iat = epochSeconds(now)
  return {
    iss: session.issuer,
    sub: identity.id,
    aud: [audience],
    exp: iat + inSeconds(life), // D-24: exp - iat is the configured duration exactly
    iat,
    jti: base64url(random.bytes(16)),
    client_id: session.clientId,
    auth_time: epochSeconds(authTime),
    amr: session.amr,
    scope,
    z_asid: session.id,
    z_ia: identity.isAdmin,
    z_ct: session.configTypes,
    z_t: ACCESS_TOKEN_TYPE,
    z_ice: false, // D-26: true only after a login with a certificate of our own PKI
    ...(identity.externalId === undefined ? {} : { z_eid: identity.externalId }),
    z_ap: identity.authPolicyId,
  }
}

/** The caller that a verified payload names; undefined when it is not that of an access token. */
export function readAccessToken(payload: JWTPayload): CallSession | undefined {
  const claims = payload as Partial<Record<keyof AccessTokenClaims, unknown>>
  const { sub, exp, z_t, z_asid, z_ia, z_ct, z_ap } = claims
  if (z_t !== ACCESS_TOKEN_TYPE) return undefined
  if (typeof sub !== 'string' || typeof exp !== 'number') return undefined
  if (typeof z_asid !== 'string' || typeof z_ia !== 'boolean' || typeof z_ap !== 'string') {
    return undefined
  }
  if (!isTexts(z_ct)) return undefined
  return {
    sessionId: z_asid as ApiSessionId,
    identityId: sub as IdentityId,
    isAdmin: z_ia,
    authPolicyId: z_ap as AuthPolicyId,
    configTypes: z_ct,
    expiresAt: instant(exp * 1_000),
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
