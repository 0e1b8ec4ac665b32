/**
 * Spends a code and begins its session, step by step, without waiting for anything in between: D-466. The statement of
 * PostgreSQL (`../postgres/begin-session.ts`) takes the same steps, with the same outcomes (D-328).
 */
import type { BeginSession, SessionBeginning } from '../../../domain/tokens/stores.ts'
import { insertEventNow } from '../../events.ts'
import { insertRowNow } from '../../fixed-query.ts'
import { MARK_LOGIN } from '../../identities/identities.ts'
import { sessionRow } from '../../sessions/api-sessions.ts'
import { SPEND_BY_CODE } from '../../sessions/auth-requests.ts'
import { refreshTokenRow } from '../../sessions/refresh-tokens.ts'
import type { InOneTurn } from '../database.ts'
import { holdLogin, useProof } from './steps.ts'

export const beginSession: InOneTurn<BeginSession> = (
  tx,
  onEvent,
  { at, redemption, identity, session, refreshToken, proof, event }: SessionBeginning,
) => {
  if (!useProof(tx, proof)) return 'replayed'
  const isHeld = holdLogin(tx, { primary: session.primary, identity }, at)
  const { codeHash, at: redeemedAt } = redemption
  const spending = { codeHash, at: redeemedAt, sessionId: session.id }
  if (SPEND_BY_CODE.countNow(tx, spending) === 0) return 'spent'
  if (!isHeld) return 'gone'
  MARK_LOGIN.countNow(tx, { id: identity.id, at })
  insertRowNow(tx, 'api_sessions', sessionRow(session))
  if (refreshToken !== undefined) {
    insertRowNow(tx, 'refresh_tokens', refreshTokenRow(refreshToken))
  }
  onEvent(insertEventNow(tx, event))
  return 'begun'
}
