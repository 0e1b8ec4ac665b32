/**
 * What a refresh and the exchange of a code write, step by step, in the transaction of the caller. A database that does it
 * in one statement (`store/dialects`) follows these steps in this order, with the same outcomes: D-322, D-328.
 */
import { holdLogin, holdOwner } from '../login/hold-owner.ts'
import type { Stores } from '../stores.ts'
import type {
  BeginningOutcome,
  RefreshSpending,
  SessionBeginning,
  SpendingOutcome,
} from './stores.ts'

type Tx = Pick<
  Stores,
  | 'usedProofs'
  | 'identities'
  | 'authenticators'
  | 'passkeys'
  | 'authRequests'
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

export async function beginInSteps(
  tx: Tx,
  { at, redemption, identity, session, refreshToken, proof, event }: SessionBeginning,
): Promise<BeginningOutcome> {
  if (proof !== undefined && !(await tx.usedProofs.insert(proof))) return 'replayed'
  // Lock the identity first, as its deletion does; the opposite order could deadlock.
  const holder = await holdLogin(tx, { primary: session.primary, identity }, at)
  const { codeHash, at: redeemedAt } = redemption
  const taken = { at: redeemedAt, sessionId: session.id }
  if (!(await tx.authRequests.spendByCode(codeHash, taken))) return 'spent'
  if (holder === undefined) return 'gone'
  await tx.identities.markLogin(identity.id, at)
  await tx.apiSessions.insert(session)
  if (refreshToken !== undefined) await tx.refreshTokens.insert(refreshToken)
  await tx.events.insert(event)
  return 'begun'
}
