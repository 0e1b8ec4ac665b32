/**
 * The access token: builds and reads its claims, so that their names and types are defined once. SPEC Access token;
 * D-24; RFC 9068.
 */
import type { JWTPayload } from 'jose'
import { base64url } from '../../base/encoding.ts'
import type { ApiSessionId, AuthPolicyId, IdentityId, TokenId } from '../../base/ids.ts'
import { areStrings, isJsonObject } from '../../base/json.ts'
import type { Random } from '../../base/secrets/random.ts'
import { type Duration, inSeconds } from '../../base/time/duration.ts'
import { epochSeconds, type Instant, instant } from '../../base/time/instant.ts'
import { acrOf } from '../../protocol/factors/acr.ts'
import { ACCESS_TOKEN_TYPE, type AccessTokenClaims } from '../../protocol/service-claims.ts'
import type { Identity } from '../identities/identity.ts'
import type { OidcSession } from '../sessions/api-session.ts'

/** What an API call knows about its caller without reading the store: SPEC Access token. */
export interface AccessToken {
  readonly tokenId: TokenId
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId
  readonly externalId: string | undefined
  readonly isAdmin: boolean
  readonly authPolicyId: AuthPolicyId
  readonly configTypes: readonly string[]
  readonly amr: readonly string[]
  /** The signer that vouched for a login by external JWT (D-232). */
  readonly signerId: string | undefined
  /** The third-party CA of the certificate of a login (D-232). */
  readonly caId: string | undefined
  /** SHA-256 of the certificate that the token is bound to, base64url (D-24). */
  readonly boundTo: string | undefined
  /** Thumbprint of the key that every sender of the token must prove (RFC 9449 §6.1). */
  readonly boundKey?: string | undefined
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
  readonly authenticatedAt: Instant
  readonly issuedAt: Instant
  /** When the token expires, and with it the authorization of the call. */
  readonly expiresAt: Instant
}

/** Which part of a session one access token carries, and for how long. */
export interface AccessTokenGrant {
  readonly session: Omit<OidcSession, 'expiresAt'>
  readonly identity: Identity
  readonly scope: string
  /** RFC 9449 §6.1. */
  readonly boundKey?: string | undefined
  readonly audience: string
  readonly life: Duration
}

export function accessTokenClaims(
  grant: AccessTokenGrant,
  now: Instant,
  random: Random,
): AccessTokenClaims {
  const { session, identity, scope, boundKey, audience, life } = grant
  const iat = epochSeconds(now)
  const caId = session.primary.certificate?.trust?.caId
  return {
    iss: session.issuer,
    sub: identity.id,
    aud: [audience],
    exp: iat + inSeconds(life), // D-24: exp - iat is the configured duration exactly
    iat,
    jti: base64url(random.bytes(16)),
    client_id: session.clientId,
    auth_time: epochSeconds(session.primary.at),
    amr: session.amr,
    acr: acrOf(session.amr),
    scope,
    ...rolesClaim(identity),
    z_asid: session.id,
    z_ia: identity.isAdmin,
    z_ct: session.configTypes,
    z_t: ACCESS_TOKEN_TYPE,
    z_ice: session.primary.certificate?.isIssuedByNetwork === true, // D-26: such a certificate can be renewed
    ...(identity.externalId === undefined ? {} : { z_eid: identity.externalId }),
    z_ap: identity.authPolicyId,
    ...(session.primary.signerId === undefined ? {} : { z_ejs: session.primary.signerId }),
    ...(caId === undefined ? {} : { z_ca: caId }),
    ...confirmation(session.primary.certificate?.fingerprint, boundKey),
  }
}

/** A token must fit into a header, with room for everything else. */
const LONGEST_ROLES = 4 * 1024

/** Without it, no upstream that demands a role admits the token: better than a token that no server accepts. */
export function rolesClaim({
  roleAttributes: roles,
  roleVersion: z_rv,
}: Pick<Identity, 'roleAttributes' | 'roleVersion'>): Pick<AccessTokenClaims, 'roles' | 'z_rv'> {
  const length = Buffer.byteLength(JSON.stringify(roles))
  return length > LONGEST_ROLES ? { z_rv } : { roles, z_rv }
}

/** Returns the caller that a verified payload names, or undefined if it is not that of an access token. */
export function readAccessToken(payload: JWTPayload): AccessToken | undefined {
  const claims = payload as Partial<Record<keyof AccessTokenClaims, unknown>>
  if (claims.z_t !== ACCESS_TOKEN_TYPE) return undefined
  if (typeof claims.sub !== 'string' || typeof claims.jti !== 'string') return undefined
  if (typeof claims.exp !== 'number' || typeof claims.iat !== 'number') return undefined
  if (typeof claims.auth_time !== 'number' || typeof claims.scope !== 'string') return undefined
  if (typeof claims.iss !== 'string' || typeof claims.client_id !== 'string') return undefined
  if (typeof claims.z_asid !== 'string' || typeof claims.z_ap !== 'string') return undefined
  if (typeof claims.z_ia !== 'boolean') return undefined
  if (!areStrings(claims.z_ct) || !areStrings(claims.amr)) return undefined
  if (!isOptionalText(claims.z_eid) || !isOptionalText(claims.z_ejs)) return undefined
  if (!isOptionalText(claims.z_ca)) return undefined
  const bound = readConfirmation(claims.cnf)
  if (bound === undefined) return undefined
  return {
    tokenId: claims.jti as TokenId,
    sessionId: claims.z_asid as ApiSessionId,
    identityId: claims.sub as IdentityId,
    externalId: claims.z_eid,
    isAdmin: claims.z_ia,
    authPolicyId: claims.z_ap as AuthPolicyId,
    configTypes: claims.z_ct,
    amr: claims.amr,
    signerId: claims.z_ejs,
    caId: claims.z_ca,
    boundTo: bound.certificate,
    boundKey: bound.key,
    issuer: claims.iss,
    clientId: claims.client_id,
    scope: claims.scope,
    authenticatedAt: instant(claims.auth_time * 1_000),
    issuedAt: instant(claims.iat * 1_000),
    expiresAt: instant(claims.exp * 1_000),
  }
}

function confirmation(
  fingerprint: string | undefined,
  boundKey: string | undefined,
): Pick<AccessTokenClaims, 'cnf'> {
  if (fingerprint === undefined && boundKey === undefined) return {}
  return {
    cnf: {
      ...(fingerprint === undefined ? {} : { 'x5t#S256': certificateThumbprint(fingerprint) }),
      ...(boundKey === undefined ? {} : { jkt: boundKey }),
    },
  }
}

/** RFC 8705 §3.1: the same hash as our fingerprints, in base64url. */
export function certificateThumbprint(fingerprint: string): string {
  return base64url(Buffer.from(fingerprint, 'hex'))
}

/** Returns undefined for a kind of confirmation that we never issue. */
function readConfirmation(cnf: unknown) {
  if (cnf === undefined) return { certificate: undefined, key: undefined }
  if (!isJsonObject(cnf)) return undefined
  const { 'x5t#S256': certificate, jkt: key } = cnf
  if (certificate === undefined && key === undefined) return undefined
  if (!isOptionalText(certificate) || !isOptionalText(key)) return undefined
  return { certificate, key }
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}
