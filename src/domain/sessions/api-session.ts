/**
 * An API session: what a finished login leaves behind. SPEC What the service does 3; API 4.7.
 * `z_asid` of every token of the session is its id, for life.
 */
import type { ApiSessionId, AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/instant.ts'
import type { Issuer } from '../../protocol/oidc.ts'

export interface ApiSession {
  readonly id: ApiSessionId
  readonly kind: 'oidc'
  readonly identityId: IdentityId
  readonly authenticatorId: AuthenticatorId
  readonly issuer: Issuer
  readonly clientId: string
  readonly amr: readonly string[]
  readonly configTypes: readonly string[]
  readonly address: string
  readonly userAgent: string | undefined
  readonly createdAt: Instant
  /** D-53: without a refresh token, the expiry of the access token. */
  readonly expiresAt: Instant
}

/** A session that ended before its time. Kept until no token of it can be alive (D-34). */
export interface SessionEnding {
  readonly sessionId: ApiSessionId
  readonly at: Instant
  readonly keepUntil: Instant
}
