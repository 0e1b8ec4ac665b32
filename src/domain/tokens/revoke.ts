/**
 * POST /oidc/revoke: RFC 7009, D-31. Revoking a refresh token ends its session; revoking an access token ends only that
 * token. Nothing is stored for a token that is not ours or belongs to another client, and the caller learns nothing
 * about it (R050).
 */

import type { Secret } from '../../base/secrets/secret.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import { refreshTokenHash } from '../factors/refresh-token.ts'
import { endingOf } from '../sessions/api-session.ts'
import { endSession } from '../sessions/ending/end-session.ts'
import { readOwnAccessToken } from './own-token.ts'
import type { TokenPorts } from './ports.ts'

export async function revokeToken(
  ports: TokenPorts,
  {
    token,
    clientId,
    caller,
  }: { readonly token: Secret; readonly clientId: string; readonly caller: Caller },
): Promise<void> {
  const refresh = await ports.refreshTokens.find(refreshTokenHash(ports.vault, token))
  // Accept a spent token too: its holder wants the session to end.
  const session = refresh && (await ports.apiSessions.find(refresh.sessionId))
  if (session !== undefined) {
    // RFC 7009 §2.1: a client can revoke only what was issued to it.
    if (session.kind !== 'oidc' || session.clientId !== clientId) return
    const { id: sessionId, identityId } = session
    return endSession(ports, { sessionId, identityId, reason: 'revoked', caller })
  }
  const access = await readOwnAccessToken(ports, token)
  if (access === undefined || access.clientId !== clientId) return
  const { tokenId, sessionId, identityId, expiresAt } = access
  const ending = endingOf(tokenId, ports.clock.now(), expiresAt)
  const revoked = { type: 'token.revoked', identityId, sessionId } as const
  await ports.transaction(async (tx) => {
    if (!(await tx.sessionEndings.insert(ending))) return
    await record(ports, tx, caller, revoked)
  })
}
