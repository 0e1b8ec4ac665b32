/**
 * Spends a refresh token step by step, in the transaction of the caller. A database that does it in one statement
 * (`store/dialects`) follows these steps in this order, with the same outcomes: D-322.
 */
import { holdOwner } from '../login/hold-owner.ts'
import type { Stores } from '../stores.ts'
import type { RefreshSpending, SpendingOutcome } from './stores.ts'

type Tx = Pick<
  Stores,
  | 'usedProofs'
  | 'identities'
  | 'authenticators'
  | 'passkeys'
  | 'apiSessions'
  | 'refreshTokens'
  | 'events'
>

export async function spendInSteps(tx: Tx, spending: RefreshSpending): Promise<SpendingOutcome> {
  const { at, hash, successor, primary, expiresAt, tokensEndAt, proof, event } = spending
  if (proof !== undefined && !(await tx.usedProofs.insert(proof))) return 'replayed'
  if (!(await holdOwner(tx, primary, at))) return 'identity-disabled'
  // Lock the session before its tokens, as ending a session does; the opposite order could deadlock.
  const { sessionId } = successor
  if (!(await tx.apiSessions.renewOidc(sessionId, expiresAt, tokensEndAt))) return 'session-ended'
  if (!(await tx.refreshTokens.take(hash, { at, successor: successor.hash }))) return 'taken'
  await tx.refreshTokens.insert(successor)
  await tx.events.insert(event)
  return 'spent'
}
