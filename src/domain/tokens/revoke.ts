/**
 * POST /oidc/revoke: RFC 7009, D-31. A refresh token takes its session along; an access token goes alone. Nothing is
 * stored for a token that is not ours, and the caller learns nothing about it (R050).
 */

import type { Secret } from '../../base/secrets/secret.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import { endingOf } from '../sessions/api-session.ts'
import type { EndSession } from '../sessions/ending/end-session.ts'
import type { EndedSessions } from '../sessions/ending/ended-sessions.ts'
import type { ApiSessions } from '../sessions/stores.ts'
import type { Transaction } from '../stores.ts'
import type { OwnTokens } from './own-token.ts'
import { refreshTokenHash } from './refresh-token.ts'
import type { RefreshTokens } from './stores.ts'

export type RevokeToken = (token: Secret, caller: Caller) => Promise<void>

export function createRevokeToken(deps: {
  readonly vault: Vault
  readonly clock: Clock
  readonly refreshTokens: Pick<RefreshTokens, 'find'>
  readonly apiSessions: Pick<ApiSessions, 'find'>
  readonly ownTokens: Pick<OwnTokens, 'readAccessToken'>
  readonly endedSessions: Pick<EndedSessions, 'add'>
  readonly endSession: EndSession
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
}): RevokeToken {
  const { vault, clock, refreshTokens, apiSessions, ownTokens, recordEvent } = deps

  return async (token, caller) => {
    const refresh = await refreshTokens.find(refreshTokenHash(vault, token))
    // A spent one too: whoever holds it wants the session to be over.
    const session = refresh && (await apiSessions.find(refresh.sessionId))
    if (session !== undefined) {
      const { id: sessionId, identityId } = session
      return deps.endSession({ sessionId, identityId, reason: 'revoked', caller })
    }
    const access = await ownTokens.readAccessToken(token)
    if (access === undefined) return
    const { tokenId, sessionId, identityId, expiresAt } = access
    const ending = endingOf(tokenId, clock.now(), expiresAt)
    const revoked = { type: 'token.revoked', identityId, sessionId } as const
    await deps.transaction(async (tx) => {
      if (!(await tx.sessionEndings.insert(ending))) return
      await tx.events.insert(recordEvent(caller, revoked))
    })
    deps.endedSessions.add(ending)
  }
}
