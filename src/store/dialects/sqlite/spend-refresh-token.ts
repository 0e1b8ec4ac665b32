/**
 * Spends a refresh token, step by step, without waiting for anything in between: D-466. The statement of PostgreSQL
 * (`../postgres/spend-refresh-token.ts`) takes the same steps in the same order, with the same outcomes (D-322).
 */
import type { RefreshSpending, SpendRefreshToken } from '../../../domain/tokens/stores.ts'
import { insertEventNow } from '../../events.ts'
import { insertRowNow } from '../../fixed-query.ts'
import { RENEW_OIDC } from '../../sessions/api-sessions.ts'
import { refreshTokenRow, TAKE_REFRESH_TOKEN } from '../../sessions/refresh-tokens.ts'
import type { InOneTurn } from '../database.ts'
import { hasOwner, useProof } from './steps.ts'

export const spendRefreshToken: InOneTurn<SpendRefreshToken> = (
  tx,
  onEvent,
  { at, hash, successor, primary, expiresAt, tokensEndAt, proof, event }: RefreshSpending,
) => {
  if (!useProof(tx, proof)) return 'replayed'
  if (!hasOwner(tx, primary, at)) return 'identity-disabled'
  const { sessionId: id } = successor
  if (RENEW_OIDC.countNow(tx, { id, expiresAt, tokensEndAt }) === 0) return 'session-ended'
  const taking = { hash, at, successor: successor.hash }
  if (TAKE_REFRESH_TOKEN.countNow(tx, taking) === 0) return 'taken'
  insertRowNow(tx, 'refresh_tokens', refreshTokenRow(successor))
  onEvent(insertEventNow(tx, event))
  return 'spent'
}
