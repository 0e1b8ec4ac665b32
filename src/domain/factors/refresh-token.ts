/**
 * A refresh token, as it is stored: only its hash (R046). A spent one is kept until it would have expired, so that its
 * reuse is detected. SPEC Refresh token; D-27.
 */
import { base64url } from '../../base/encoding.ts'
import type { ApiSessionId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { SecretHash, Vault } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'

export interface RefreshToken {
  readonly hash: SecretHash
  readonly sessionId: ApiSessionId
  readonly issuedAt: Instant
  readonly expiresAt: Instant
  /** When it was exchanged, and for which token; undefined while it is unspent. */
  readonly spent: { readonly at: Instant; readonly successor: SecretHash } | undefined
}

/** D-27: 256 bits. The prefix lets secret scanners recognize a leaked token. */
const TOKEN_BYTES = 32
const REFRESH_TOKEN_PREFIX = 'lkr_'

export function newRefreshToken(random: Random): Secret {
  return new Secret(`${REFRESH_TOKEN_PREFIX}${base64url(random.bytes(TOKEN_BYTES))}`)
}

/** D-27: returns the same successor every time the same token is presented. Derived, so that it need not be stored. */
export function derivedSuccessor(vault: Vault, spent: Secret): Secret {
  return new Secret(`${REFRESH_TOKEN_PREFIX}${vault.hash('refresh-successor', spent.reveal())}`)
}

export function refreshTokenHash(vault: Vault, token: Secret): SecretHash {
  return vault.hash('refresh-token', token.reveal())
}
