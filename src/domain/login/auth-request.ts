/**
 * The life of one login, from the authorization redirect to the exchanged code.
 * SPEC States and transitions / Auth request; the state names are the specification's.
 *
 * Pure: time, verdicts and codes come in, the next request goes out; the use cases save it.
 */
import type { Brand } from '../../base/brand.ts'
import type { ApiSessionId, AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/instant.ts'
import type { SecretHash } from '../../base/vault.ts'
import type { Issuer, ResponseMode, Scope } from '../../protocol/oidc.ts'
import type { VerifiedRedirect } from './verified-redirect.ts'

/** What the client holds: the sealed request itself (D-7). Never stored, never logged. */
export type AuthRequestId = Brand<string, 'AuthRequestId'>
/** Names the request inside the seal and in the store. 128 random bits. */
export type AuthRequestKey = Brand<string, 'AuthRequestKey'>

/** What the client asked for. Fixed at the start (configTypes may grow, D-9); PKCE and redirect checks rely on that. */
export interface ClientAsk {
  readonly clientId: string
  readonly redirectUri: VerifiedRedirect
  readonly responseMode: ResponseMode
  readonly issuer: Issuer
  readonly scopes: readonly Scope[]
  readonly codeChallenge: string
  readonly state: string | undefined
  readonly nonce: string | undefined
  readonly configTypes: readonly string[]
}

interface Common {
  readonly key: AuthRequestKey
  readonly ask: ClientAsk
  /** Hash of the cookie of the browser that began this login; undefined when a program did (D-10). */
  readonly browser: SecretHash | undefined
  readonly expiresAt: Instant // D-7: ten minutes from the start, never extended
}

export interface AwaitingPrimary extends Common {
  readonly state: 'awaiting-primary'
}

export interface CodeIssued extends Common {
  readonly state: 'code-issued'
  readonly primary: ProvenPrimary
  readonly codeHash: SecretHash
  readonly codeExpiresAt: Instant
}

export interface TokensIssued extends Common {
  readonly state: 'tokens-issued'
  readonly primary: ProvenPrimary
  readonly codeHash: SecretHash
  readonly redemption: Redemption
}

export type AuthRequest = AwaitingPrimary | CodeIssued | TokensIssued
/** The states that live in the store: from the first proven factor on (D-7). */
export type StoredAuthRequest = CodeIssued | TokensIssued

/** A primary factor that was proven on this request, and by whom. */
export interface ProvenPrimary {
  readonly method: 'password'
  readonly identityId: IdentityId
  readonly authenticatorId: AuthenticatorId
  readonly at: Instant
}

/** The exchange that spent the code, and the session it began. */
export interface Redemption {
  readonly at: Instant
  readonly sessionId: ApiSessionId
}

/** Primary credentials proven and nothing more demanded: the code is issued. */
export function acceptPrimary(
  request: AwaitingPrimary,
  primary: ProvenPrimary,
  code: { readonly hash: SecretHash; readonly expiresAt: Instant },
  configTypes: readonly string[],
): CodeIssued {
  return {
    ...request,
    state: 'code-issued',
    ask: { ...request.ask, configTypes },
    primary,
    codeHash: code.hash,
    codeExpiresAt: code.expiresAt,
  }
}
