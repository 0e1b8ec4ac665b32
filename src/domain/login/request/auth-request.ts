/**
 * The state machine of one login, from the authorization redirect to the exchanged code. SPEC States and transitions /
 * Auth request; the state names are those of the specification.
 *
 * Pure: functions take the time, verdicts and codes and return the next request; the use cases save it.
 */
import type { Brand } from '../../../base/brand.ts'
import type { ApiSessionId } from '../../../base/ids.ts'
import type { SecretHash } from '../../../base/secrets/vault.ts'
import type { Duration } from '../../../base/time/duration.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { FactorChoice, SecondFactorId } from '../../../protocol/factors/second-factors.ts'
import type { Issuer, ResponseMode, Scope } from '../../../protocol/oidc.ts'
import {
  NO_FACTORS,
  type ProvenPrimary,
  type ProvenSecondary,
  withFactor,
} from '../../factors/proven.ts'
import type { VerifiedRedirect } from './verified-redirect.ts'

/** The id that the client holds: the sealed request itself (D-7). Never stored, never logged. */
export type AuthRequestId = Brand<string, 'AuthRequestId'>
/** Identifies the request inside the seal and in the store. 128 random bits. */
export type AuthRequestKey = Brand<string, 'AuthRequestKey'>

/** What the client asked for. Fixed at the start (configTypes may grow, D-9); PKCE and redirect checks rely on that. */
export interface ClientAsk {
  readonly clientId: string
  readonly redirectUri: VerifiedRedirect
  readonly responseMode: ResponseMode
  readonly issuer: Issuer
  readonly scopes: readonly Scope[]
  readonly codeChallenge: string
  /** `dpop_jkt`: the key that must be proven when the code is exchanged (RFC 9449 §10). */
  readonly dpopKey: string | undefined
  readonly state: string | undefined
  readonly nonce: string | undefined
  /** OIDC Core §3.1.2.1: the user must authenticate again, even at an IdP that still has a session for them. */
  readonly prompt: 'login' | undefined
  /** OIDC Core §3.1.2.1: how long ago the user may have authenticated at an IdP (D-241). Zero implies `prompt`. */
  readonly maxAge: Duration | undefined
  /** `acr_values`: the login must prove one of these second factors, whatever the policy demands (D-460). */
  readonly stepUp: FactorChoice | undefined
  readonly configTypes: readonly string[]
}

interface Common {
  readonly key: AuthRequestKey
  readonly ask: ClientAsk
  /** Hash of the cookie of the browser that began this login; undefined if a program began it (D-10). */
  readonly browser: SecretHash | undefined
  readonly expiresAt: Instant // D-7: ten minutes from the start, never extended
}

export interface AwaitingPrimary extends Common {
  readonly state: 'awaiting-primary'
}

/** From this state on the request is a row. Every change increments `revision`, so one of two parallel changes wins. */
interface Stored extends Common {
  readonly revision: number
  readonly primary: ProvenPrimary
  readonly secondary: ProvenSecondary
  /** The session whose proof was reused, if any: the login ends with it (D-345). */
  readonly reusedSession: ApiSessionId | undefined
}

export interface PartiallyAuthenticated extends Stored {
  readonly state: 'partially-authenticated'
}

export interface CodeIssued extends Stored {
  readonly state: 'code-issued'
  readonly codeHash: SecretHash
  readonly codeExpiresAt: Instant
  /**
   * The session that the exchange will begin, so that the event of the login can name it (D-384). Codes of devices
   * and of an earlier version have none.
   */
  readonly sessionId: ApiSessionId | undefined
  /** D-20: the last factor was an enrollment, and a code may still be posted for a new authorization code. */
  readonly byEnrollment: boolean
}

export interface TokensIssued extends Stored {
  readonly state: 'tokens-issued'
  readonly codeHash: SecretHash
  readonly redemption: Redemption
}

/**
 * Too many wrong codes (D-18). The row stays until the request would have expired, so that the id cannot be used again.
 */
export interface EndedRequest {
  readonly state: 'ended'
  readonly key: AuthRequestKey
}

export type AuthRequest = AwaitingPrimary | StoredAuthRequest
/** The states that are stored: from the first proven factor on (D-7). */
export type StoredAuthRequest = PartiallyAuthenticated | CodeIssued | TokensIssued | EndedRequest

/** The exchange that spent the code, and the session that it began. */
export interface Redemption {
  readonly at: Instant
  readonly sessionId: ApiSessionId
}

/** What is stored of a code that has been issued. */
export interface FreshCode {
  readonly hash: SecretHash
  readonly expiresAt: Instant
  readonly sessionId: ApiSessionId
}

/** Keeps what the same identity proved before, unless it was voided; another identity starts over (D-13, D-226). */
export function acceptPrimary(
  request: AwaitingPrimary | PartiallyAuthenticated,
  primary: ProvenPrimary,
  extJwt: ProvenSecondary['extJwt'],
  configTypes: readonly string[],
): PartiallyAuthenticated {
  const isSame =
    request.state === 'partially-authenticated' &&
    request.primary.identityId === primary.identityId &&
    request.primary.voidedLogins === primary.voidedLogins
  return {
    ...request,
    state: 'partially-authenticated',
    revision: request.state === 'awaiting-primary' ? 1 : request.revision + 1,
    ask: { ...request.ask, configTypes },
    primary,
    reusedSession: undefined,
    secondary: {
      ...(isSame && request.secondary.isRecovered === true ? { isRecovered: true } : {}),
      factors: withItself(primary, isSame ? request.secondary.factors : NO_FACTORS),
      extJwt,
    },
  }
}

/** D-431: a passkey that began the login verified its user, so it is both factors. */
function withItself(
  { method }: Pick<ProvenPrimary, 'method'>,
  factors: ProvenSecondary['factors'],
): ProvenSecondary['factors'] {
  return method === 'passkey' ? new Set([...factors, 'passkey']) : factors
}

/** A second factor was proven, or its enrollment verified. */
export function acceptFactor(
  request: PartiallyAuthenticated,
  factor: SecondFactorId,
  by?: SecondFactorId | 'recovery-code',
): PartiallyAuthenticated {
  const secondary = withFactor(request.secondary, factor, by)
  return { ...request, revision: request.revision + 1, secondary }
}

/** Nothing is outstanding any more. */
export function issueCode(
  request: PartiallyAuthenticated | CodeIssued,
  code: FreshCode,
  { byEnrollment }: Pick<CodeIssued, 'byEnrollment'>,
): CodeIssued {
  return {
    ...request,
    state: 'code-issued',
    // If this call already changed the request, the code is saved with that change, under the same revision.
    revision: request.state === 'code-issued' ? request.revision + 1 : request.revision,
    codeHash: code.hash,
    codeExpiresAt: code.expiresAt,
    sessionId: code.sessionId,
    byEnrollment,
  }
}
