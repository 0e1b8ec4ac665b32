/**
 * The one place that turns a finished OIDC login into a session and its tokens. SPEC Token response.
 */

import type { ApiSessionId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Duration } from '../../base/time/duration.ts'
import { earlier, later, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Identity } from '../identities/identity.ts'
import { holdLogin } from '../login/hold-owner.ts'
import type { CodeIssued } from '../login/request/auth-request.ts'
import type { OidcSession } from '../sessions/api-session.ts'
import type { Transaction } from '../stores.ts'
import { amrOf } from './amr.ts'
import type { SignedTokens, SignTokens } from './keys/sign-tokens.ts'
import { newRefreshToken, type RefreshToken, refreshTokenHash } from './refresh-token.ts'

export interface FinishedAuthentication {
  readonly request: CodeIssued
  readonly sessionId: ApiSessionId
  readonly identity: Identity
  readonly username: string
  readonly caller: Caller
}

export interface IssuedTokens extends SignedTokens {
  /** Only with `offline_access` (R044). */
  readonly refreshToken: Secret | undefined
}

export type IssueTokens = (authentication: FinishedAuthentication) => Promise<IssuedTokens>

export function createIssueTokens(deps: {
  readonly signTokens: SignTokens
  readonly clock: Clock
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
  readonly vault: Vault
  readonly random: Random
  readonly maxSessionDuration: Duration
  readonly refreshTokenDuration: Duration
}): IssueTokens {
  const { signTokens, vault, random, clock, transaction, recordEvent } = deps

  return async ({ request, sessionId, identity, username, caller }) => {
    const { ask, primary, secondary } = request
    const now = clock.now()
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
      amr: amrOf(primary, secondary),
      configTypes: ask.configTypes,
      address: caller.address,
      userAgent: caller.userAgent,
      createdAt: now,
      endsAt: plus(primary.at, deps.maxSessionDuration),
    }
    const tokens = await signTokens({ session, identity, username, scope, nonce: ask.nonce })
    const refreshToken = ask.scopes.includes('offline_access') ? newRefreshToken(random) : undefined
    const stored = refreshToken && firstRefreshToken(refreshToken, session)
    const issued = recordEvent(caller, {
      type: 'token.issued',
      identityId: identity.id,
      sessionId,
      details: { scope },
    })
    // Signing is done before the transaction begins; the answer leaves after it has committed.
    const isAlive = await transaction(async (tx) => {
      if ((await holdLogin(tx, { primary, identity }, now)) === undefined) return false
      await tx.identities.markLogin(identity.id, now)
      // D-53; but never before the access token, which lives its whole life (D-24) and can be ended for as long.
      const { accessTokenExpiresAt: tokenEnd } = tokens
      const expiresAt = stored === undefined ? tokenEnd : later(stored.expiresAt, tokenEnd)
      await tx.apiSessions.insert({ ...session, expiresAt, tokensEndAt: tokenEnd })
      if (stored !== undefined) await tx.refreshTokens.insert(stored)
      await tx.events.insert(issued)
      return true
    })
    if (!isAlive)
      throw new Failure('INVALID_GRANT', {
        detail: 'the identity or its authenticator is gone or another one',
      })
    return { ...tokens, refreshToken }
  }

  function firstRefreshToken(
    token: Secret,
    { id, createdAt, endsAt }: Omit<OidcSession, 'expiresAt'>,
  ): RefreshToken {
    return {
      hash: refreshTokenHash(vault, token),
      sessionId: id,
      issuedAt: createdAt,
      expiresAt: earlier(plus(createdAt, deps.refreshTokenDuration), endsAt),
      spent: undefined,
    }
  }
}
