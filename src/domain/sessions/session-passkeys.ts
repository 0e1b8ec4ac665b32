/**
 * A user's own passkeys, from inside a session: D-430, D-437. Removing one needs an answer of a factor, and ends the
 * sessions that it began. session-factors.ts begins to add one, which needs a recent login, because it opens the account
 * from then on.
 */
import type { AuthenticatorId } from '../../base/ids.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import type { RequestOptions } from '../factors/passkey/options.ts'
import type { Passkey } from '../factors/passkey/passkey.ts'
import { proveOptions } from '../factors/passkey/passkey-factor.ts'
import { enrolledFactors } from '../factors/second-factors.ts'
import { withdrawResetWithin } from '../factors/withdraw-reset.ts'
import { notFound } from '../refusals.ts'
import type { Stores } from '../stores.ts'
import type { ApiSession } from './api-session.ts'
import { type CallSession, holdSession } from './call-session.ts'
import { endSessionsWithin } from './ending/end-session.ts'
import type { EndingPorts } from './ending/ports.ts'
import { endInSession } from './own-sessions.ts'
import {
  type MfaPorts,
  proverOf,
  type SessionAnswer,
  type SessionFactor,
  spend,
  withIdentity,
} from './session-factors.ts'

export type OwnPasskeys = Omit<SessionFactor<'passkey'>, 'factor'>

export function listOwnPasskeys(
  { passkeys }: Pick<MfaPorts, 'passkeys'>,
  { identityId }: CallSession,
): Promise<readonly Passkey[]> {
  return passkeys.listOf(identityId)
}

/** The options to prove a passkey in this session. Throws MFA_NOT_ENROLLED, PASSKEYS_UNAVAILABLE. */
export function passkeyOptionsInSession(
  ports: MfaPorts,
  own: OwnPasskeys,
): Promise<RequestOptions> {
  return proveOptions(ports, proverOf(own))
}

/** Throws NOT_FOUND if it is not the caller's own; UNAUTHORIZED. */
export async function renameOwnPasskey(
  ports: Pick<MfaPorts, 'transaction' | 'brand'>,
  own: OwnPasskeys,
  id: AuthenticatorId,
  name: string,
): Promise<void> {
  const { session } = own
  await withIdentity(ports, own, async (tx) => {
    if (!(await tx.passkeys.rename(session.identityId, id, name))) throw notFound()
    await holdSession(ports, tx, session)
  })
}

/** Throws NOT_FOUND if it is not the caller's own; MFA_INVALID_TOKEN, PASSKEY_INVALID, RATE_LIMITED. */
export async function removeOwnPasskey(
  ports: MfaPorts & EndingPorts,
  own: OwnPasskeys,
  id: AuthenticatorId,
  given: SessionAnswer,
): Promise<void> {
  const { identityId } = own.session
  const found = await ports.passkeys.find(id)
  if (found?.identityId !== identityId) throw notFound()
  const factor = await answeredFactor(ports, own, given)
  const remove = (tx: Stores) =>
    removePasskeyWithin(ports, tx, found, given.caller, (sessions) =>
      endInSession(ports, tx, own.session, { sessions }, 'authenticator-removed', given.caller),
    )
  await spend(ports, { ...own, factor }, given, remove)
}

/** A code is one of the app, if there is one; it checks recovery codes as well. */
async function answeredFactor(
  ports: MfaPorts,
  { session }: OwnPasskeys,
  { answer }: SessionAnswer,
): Promise<'totp' | 'passkey'> {
  if (answer?.startsWith('{')) return 'passkey'
  const enrolled = await enrolledFactors(ports, session.identityId)
  return enrolled.has('totp') ? 'totp' : 'passkey'
}

/**
 * Removes one passkey, and ends the sessions that it began (D-431). The caller holds the identity. Throws NOT_FOUND, and
 * what `end` throws.
 */
export async function removePasskeyWithin(
  ports: EndingPorts,
  tx: Stores,
  { id, identityId, name }: Passkey,
  caller: Caller,
  end = (sessions: readonly ApiSession[]) =>
    endSessionsWithin(ports, tx, { sessions }, 'authenticator-removed', caller),
): Promise<void> {
  if (!(await tx.passkeys.remove(identityId, id))) throw notFound()
  await withdrawResetWithin(ports, tx, { method: 'reset-mfa', identityId }, caller)
  await end(await tx.apiSessions.listByAuthenticator(id))
  const details = { factor: 'passkey', id, name } as const
  await record(ports, tx, caller, { type: 'mfa.removed', identityId, details })
}

/** D-431: a session does not outlive the passkey that it began with. */
export async function endSessionsOfPasskeys(
  ports: EndingPorts,
  tx: Stores,
  ids: readonly AuthenticatorId[],
  caller: Caller,
): Promise<void> {
  const sessions: ApiSession[] = []
  for (const id of ids) sessions.push(...(await tx.apiSessions.listByAuthenticator(id)))
  await endSessionsWithin(ports, tx, { sessions }, 'authenticator-removed', caller)
}
