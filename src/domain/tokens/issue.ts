/**
 * The one place that turns a finished OIDC login into a session and its tokens. SPEC Token response.
 */

import type { ApiSessionId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { earlier, type Instant, later, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import { recordEvent } from '../audit/record.ts'
import { newRefreshToken, type RefreshToken, refreshTokenHash } from '../factors/refresh-token.ts'
import type { Identity } from '../identities/identity.ts'
import { amrOf } from '../login/amr.ts'
import type { CodeIssued } from '../login/request/auth-request.ts'
import type { OidcSession } from '../sessions/api-session.ts'
import { type SignedTokens, signTokens } from './keys/sign-tokens.ts'
import type { TokenPorts } from './ports.ts'
import { type ProvenKey, replayed } from './possession/proven-key.ts'

export interface FinishedAuthentication {
  readonly request: CodeIssued
  /** The session is bound to it (D-452). */
  readonly key?: ProvenKey | undefined
  readonly isSealed?: true | undefined
  readonly isDevice?: true
  /** When the code is exchanged. */
  readonly at: Instant
  readonly sessionId: ApiSessionId
  readonly identity: Identity
  readonly username: string
  readonly caller: Caller
}

export interface IssuedTokens extends SignedTokens {
  /** Only with `offline_access` (R044). */
  readonly refreshToken: Secret | undefined
}

/**
 * Spends the code and begins the session in one commit. Returns `spent` if another exchange was faster. Throws
 * INVALID_GRANT if the login may no longer begin a session; the code is spent then too. Throws INVALID_DPOP_PROOF, and
 * does not spend it, if the proof was used before.
 */
export async function issueTokens(
  ports: TokenPorts,
  finished: FinishedAuthentication,
): Promise<IssuedTokens | 'spent'> {
  const { request, key, isSealed, isDevice, at, sessionId, identity, username, caller } = finished
  const { ask, primary, secondary, codeHash } = request
  const now = ports.clock.now()
  const scope = ask.scopes.join(' ')
  const session: Omit<OidcSession, 'expiresAt'> = {
    id: sessionId,
    kind: 'oidc',
    identityId: identity.id,
    primary,
    secondary,
    issuer: ask.issuer,
    clientId: ask.clientId,
    scopes: ask.scopes,
    boundKey: key?.jkt,
    ...(isSealed === undefined ? {} : { isSealed }),
    ...(isDevice === undefined ? {} : { isDevice }),
    amr: amrOf(primary, secondary),
    configTypes: ask.configTypes,
    address: caller.address,
    userAgent: caller.userAgent,
    createdAt: now,
    endsAt: plus(primary.at, ports.maxSessionDuration),
  }
  const tokens = await signTokens(ports, {
    session,
    identity,
    username,
    scope,
    boundKey: key?.jkt,
    nonce: ask.nonce,
  })
  const refreshToken = ask.scopes.includes('offline_access')
    ? newRefreshToken(ports.random)
    : undefined
  const stored = refreshToken && storedRefreshToken(ports, refreshToken, session, now)
  // D-53; but never before the access token, which always has its full lifetime (D-24) and can be ended until then.
  const { accessTokenExpiresAt: tokenEnd } = tokens
  const expiresAt = stored === undefined ? tokenEnd : later(stored.expiresAt, tokenEnd)
  const issued = recordEvent(ports, caller, {
    type: 'token.issued',
    identityId: identity.id,
    sessionId,
    details: { scope },
  })
  // Sign before the transaction begins; the response is sent after it has committed.
  const outcome = await ports.beginSession({
    at: now,
    redemption: { codeHash, at },
    identity,
    session: { ...session, expiresAt, tokensEndAt: tokenEnd },
    refreshToken: stored,
    proof: key?.use,
    event: issued,
  })
  if (outcome === 'replayed') throw replayed()
  if (outcome === 'spent') return 'spent'
  if (outcome === 'gone') {
    const detail = 'the identity or its authenticator was deleted or replaced'
    throw new Failure('INVALID_GRANT', { detail })
  }
  return { ...tokens, refreshToken }
}

/** Returns what is stored of a token that is issued now. */
export function storedRefreshToken(
  { vault, refreshTokenDuration }: Pick<TokenPorts, 'vault' | 'refreshTokenDuration'>,
  token: Secret,
  { id, endsAt }: Pick<OidcSession, 'id' | 'endsAt'>,
  now: Instant,
): RefreshToken {
  const expiresAt = earlier(plus(now, refreshTokenDuration), endsAt)
  const hash = refreshTokenHash(vault, token)
  return { hash, sessionId: id, issuedAt: now, expiresAt, spent: undefined }
}
