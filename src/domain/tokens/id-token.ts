/**
 * The ID token: who logged in, how and when. It authorizes nothing (SPEC Token response). D-25; OIDC Core §2.
 */
import { createHash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { base64url } from '../../base/encoding.ts'
import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import { type Duration, inSeconds } from '../../base/time/duration.ts'
import { epochSeconds, type Instant } from '../../base/time/instant.ts'
import { acrOf } from '../../protocol/factors/acr.ts'
import type { Identity } from '../identities/identity.ts'
import type { OidcSession } from '../sessions/api-session.ts'
import type { SigningAlgorithm } from './keys/signing-key.ts'

/** JWT header `typ` of an ID token. It must differ from that of an access token (R055). */
export const ID_TOKEN_TYP = 'JWT'

export interface IdTokenGrant {
  readonly session: Omit<OidcSession, 'expiresAt'>
  readonly identity: Identity
  readonly username: string
  /** From the authorization request; a refresh has none. */
  readonly nonce: string | undefined
  readonly life: Duration
  /** The access token issued with it, and the algorithm that signs the ID token: for `at_hash`. Undefined if it comes alone. */
  readonly issuedWith:
    | { readonly accessToken: string; readonly algorithm: SigningAlgorithm }
    | undefined
}

export function idTokenClaims(grant: IdTokenGrant, now: Instant): Record<string, unknown> {
  const { session, identity, username, nonce, life, issuedWith } = grant
  const iat = epochSeconds(now)
  return {
    iss: session.issuer,
    sub: identity.id,
    aud: session.clientId,
    azp: session.clientId,
    exp: iat + inSeconds(life),
    iat,
    auth_time: epochSeconds(session.primary.at),
    ...(nonce === undefined ? {} : { nonce }), // R016
    amr: session.amr,
    acr: acrOf(session.amr),
    ...(issuedWith === undefined
      ? {}
      : { at_hash: accessTokenHash(issuedWith.accessToken, issuedWith.algorithm) }),
    sid: session.id,
    name: identity.name,
    preferred_username: username,
  }
}

/** The session that an ID token was issued for. */
export interface NamedSession {
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId
  /** The client that the token was issued to. */
  readonly clientId: string
}

/** Returns undefined if the payload is not that of one of our ID tokens. */
export function readIdTokenSession({ sid, sub, aud }: JWTPayload): NamedSession | undefined {
  if (typeof sid !== 'string' || typeof sub !== 'string' || typeof aud !== 'string')
    return undefined
  return { sessionId: sid as ApiSessionId, identityId: sub as IdentityId, clientId: aud }
}

/** OIDC Core §3.1.3.6: the left half of the hash that the ID token's own algorithm uses; Ed25519 uses SHA-512. */
function accessTokenHash(accessToken: string, algorithm: SigningAlgorithm): string {
  const digest = createHash(algorithm === 'EdDSA' ? 'sha512' : 'sha256')
    .update(accessToken)
    .digest()
  return base64url(digest.subarray(0, digest.length / 2))
}
