/**
 * An API session: the result of a finished login. SPEC What the service does 3 and 4; API 4.7. Its id is the `z_asid`
 * of all its tokens and never changes.
 */

import type { ApiSessionId, IdentityId, SessionCertificateId, TokenId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import { type Duration, minutes } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { RoleSubject } from '../../protocol/feed/role-removals.ts'
import type { Issuer, Scope } from '../../protocol/oidc.ts'
import type { ProvenPrimary, ProvenSecondary } from '../factors/proven.ts'

interface Common {
  readonly id: ApiSessionId
  readonly identityId: IdentityId
  readonly primary: ProvenPrimary
  readonly secondary: ProvenSecondary
  /** D-25: what was proven, in the terms of RFC 8176. */
  readonly amr: readonly string[]
  readonly configTypes: readonly string[]
  readonly address: string
  readonly userAgent: string | undefined
  readonly createdAt: Instant
  /** The session cannot be renewed past this: D-27, D-36. */
  readonly endsAt: Instant
  /** D-53. After this the session has expired. */
  readonly expiresAt: Instant
}

export interface OidcSession extends Common {
  readonly kind: 'oidc'
  readonly issuer: Issuer
  readonly clientId: string
  /** Granted at the authorization; a refresh may narrow an access token, never the session (D-27). */
  readonly scopes: readonly Scope[]
  /** The thumbprint of the key that its login proved: its tokens are bound to it (RFC 9449 §5). */
  readonly boundKey: string | undefined
  /** Its access token is never handed out: a session of our own pages (D-455). */
  readonly isSealed?: true
  /** A user approved it in a browser elsewhere (D-443). */
  readonly isDevice?: true
  /**
   * When its last access token expires, even if the configuration has changed since; missing if it was not recorded
   * (D-231).
   */
  readonly tokensEndAt?: Instant
}

/** The holder of a `zt-session` token: SPEC Legacy authentication, D-36, D-51. */
export interface LegacySession extends Common {
  readonly kind: 'legacy'
  readonly tokenHash: SecretHash
  /** When a call renewed it last; written at most every tenth of the idle timeout (D-36). */
  readonly lastActivityAt: Instant
  /** The second factors that were demanded at the login, by the policy or by an enrollment (D-16). */
  readonly demanded: ReadonlySet<SecondFactorId>
}

export type ApiSession = OidcSession | LegacySession

/**
 * What can be ended early: a session; one of its access tokens, by `jti`; one of its certificates (D-31, D-34, D-41);
 * an enrolled certificate whose authenticator was removed, by fingerprint (D-42); every token that a withdrawn key
 * signed, by kid (D-135).
 */
export type EndedSubject =
  | ApiSessionId
  | TokenId
  | SessionCertificateId
  | `cert:${string}`
  | `key:${string}`
  | RoleSubject

/** Kept until every token that it concerns has expired; created by `endingOf`. */
export interface SessionEnding {
  readonly subject: EndedSubject
  readonly at: Instant
  readonly keepUntil: Instant
}

/** R115: how long an ending outlives what it ends, so that setting a clock back does not revive it. */
export const CLOCK_JUMP: Duration = minutes(15)

/** Returns the ending, at the time `at`, of something that would have expired at `end`: D-231. */
export function endingOf(subject: EndedSubject, at: Instant, end: Instant): SessionEnding {
  return { subject, at, keepUntil: plus(end, CLOCK_JUMP) }
}
