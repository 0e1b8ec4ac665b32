/**
 * The one place that turns a finished authentication into a session and its tokens. SPEC Token response.
 */
import type { Clock } from '../../base/clock.ts'
import { type Duration, inSeconds } from '../../base/duration.ts'
import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import { instant } from '../../base/instant.ts'
import type { Random } from '../../base/random.ts'
import { ACCESS_TOKEN_TYP } from '../../protocol/service-claims.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Identity } from '../identities/identity.ts'
import type { CodeIssued } from '../login/auth-request.ts'
import type { ApiSession } from '../sessions/api-session.ts'
import type { Transaction } from '../stores.ts'
import { accessTokenClaims } from './access-token.ts'
import { ID_TOKEN_TYP, idTokenClaims } from './id-token.ts'
import type { SigningKeys } from './signing-keys.ts'

export interface TokenLifetimes {
  readonly accessToken: Duration
  readonly idToken: Duration
}

export interface IssuedTokens {
  readonly identityId: IdentityId
  readonly accessToken: string
  readonly idToken: string
  readonly expiresInSeconds: number
  readonly scope: string
}

export interface FinishedAuthentication {
  readonly request: CodeIssued
  readonly sessionId: ApiSessionId
  readonly identity: Identity
  readonly username: string
  readonly caller: Caller
}

export type IssueTokens = (authentication: FinishedAuthentication) => Promise<IssuedTokens>

export function createIssueTokens(deps: {
  readonly signingKeys: SigningKeys
  readonly lifetimes: TokenLifetimes
  readonly audience: string
  readonly clock: Clock
  readonly random: Random
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
}): IssueTokens {
  const { signingKeys, lifetimes, audience, clock, random, transaction, recordEvent } = deps

  return async ({ request, sessionId, identity, username, caller }) => {
    const { ask, primary } = request
    const now = clock.now()
    const scope = ask.scopes.join(' ')
    const session: Omit<ApiSession, 'expiresAt'> = {
      id: sessionId,
      kind: 'oidc',
      identityId: identity.id,
      authenticatorId: primary.authenticatorId,
      issuer: ask.issuer,
      clientId: ask.clientId,
      amr: ['pwd'], // D-25, RFC 8176
      configTypes: ask.configTypes,
      address: caller.address,
      userAgent: caller.userAgent,
      createdAt: now,
    }
    const access = accessTokenClaims(
      { session, identity, scope, authTime: primary.at, audience, life: lifetimes.accessToken },
      now,
      random,
    )
    const signed = await signingKeys.sign(ACCESS_TOKEN_TYP, { ...access })
    const idToken = idTokenClaims(
      {
        session,
        identity,
        username,
        authTime: primary.at,
        nonce: ask.nonce,
        life: lifetimes.idToken,
        accessToken: signed.token,
        algorithm: signed.algorithm,
      },
      now,
    )
    const { token: signedIdToken } = await signingKeys.sign(ID_TOKEN_TYP, idToken)
    const issued = recordEvent(caller, {
      type: 'token.issued',
      identityId: identity.id,
      sessionId,
      details: { scope },
    })
    // Signing is done before the transaction begins; the answer leaves after it has committed.
    await transaction(async (tx) => {
      await tx.apiSessions.insert({ ...session, expiresAt: instant(access.exp * 1_000) })
      await tx.events.insert(issued)
    })
    return {
      identityId: identity.id,
      accessToken: signed.token,
      idToken: signedIdToken,
      expiresInSeconds: inSeconds(lifetimes.accessToken),
      scope,
    }
  }
}
