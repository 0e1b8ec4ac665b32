/**
 * An API session: what a finished login leaves behind. SPEC What the service does 3 and 4; API 4.7.
 * `z_asid` of every token of the session is its id, for life.
 */

import type {
  ApiSessionId,
  AuthenticatorId,
  IdentityId,
  SessionCertificateId,
  TokenId,
} from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import { type Duration, minutes } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { Issuer, Scope } from '../../protocol/oidc.ts'
import type { ProvenPrimary, ProvenSecondary } from '../factors/proven.ts'

interface Common {
  readonly id: ApiSessionId
  readonly identityId: IdentityId
  readonly primary: ProvenPrimary
  readonly secondary: ProvenSecondary
  /** D-25: what was proven, in the words of RFC 8176. */
  readonly amr: readonly string[]
  readonly configTypes: readonly string[]
  readonly address: string
  readonly userAgent: string | undefined
  readonly createdAt: Instant
  /** Nothing renews it past this: D-27, D-36. */
  readonly endsAt: Instant
  /** D-53. What is past it is no session any more. */
  readonly expiresAt: Instant
}

export interface OidcSession extends Common {
  readonly kind: 'oidc'
  readonly issuer: Issuer
  readonly clientId: string
  /** Granted at the authorization; a refresh may narrow an access token, never the session (D-27). */
  readonly scopes: readonly Scope[]
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

/** What of a session's login an administrator finds again: the authenticator, where there is one. */
export function authenticatorOf(session: ApiSession): AuthenticatorId | undefined {
  return session.primary.authenticatorId
}

/**
 * What can end before its time: a session; one access token of it, by its `jti`; one certificate of it (D-31, D-34,
 * D-41); an enrolled certificate whose authenticator was removed, by its fingerprint (D-42); every token that a
 * withdrawn key has signed, by its kid (D-135).
 */
export type EndedSubject =
  | ApiSessionId
  | TokenId
  | SessionCertificateId
  | `cert:${string}`
  | `key:${string}`

/** Kept until no token that it concerns can be alive; `endingOf` makes it. */
export interface SessionEnding {
  readonly subject: EndedSubject
  readonly at: Instant
  readonly keepUntil: Instant
}

/** R115: for so long an ending outlives what it ends, so that a clock that is set back brings nothing to life again. */
export const CLOCK_JUMP: Duration = minutes(15)

/** Returns the ending, at the time `at`, of something that would have expired at `end`: D-231. */
export function endingOf(subject: EndedSubject, at: Instant, end: Instant): SessionEnding {
  return { subject, at, keepUntil: plus(end, CLOCK_JUMP) }
}
