/**
 * The last check before a login becomes a session, inside the transaction that does it. It locks the row of the
 * identity. So a transaction that disables or changes the identity, or removes its credential, runs afterwards, finds the
 * session and ends it.
 */
import type { Instant } from '../../base/time/instant.ts'
import { type ProvenPrimary, provenFingerprint } from '../factors/proven.ts'
import { type Identity, isDisabled } from '../identities/identity.ts'
import type { Stores } from '../stores.ts'
import { isStillRegistered } from './again/check-finished.ts'
import { isVoided } from './check-again.ts'
import type { PartiallyAuthenticated } from './request/auth-request.ts'
import { startAgain } from './request/find-request.ts'

type Tx = Pick<Stores, 'identities' | 'authenticators' | 'passkeys'>

/**
 * For a step that adds a second factor, or spends a code of one: both outlive the login. Throws INVALID_AUTH_REQUEST if
 * the login or its credential was withdrawn since the first factor was proven (D-489). Locks the identity, which the
 * step refers to (D-284).
 */
export async function holdStep(
  tx: Tx,
  { primary }: Pick<PartiallyAuthenticated, 'primary'>,
  seen: Identity,
  now: Instant,
): Promise<void> {
  const identity = await tx.identities.hold(primary.identityId)
  if (identity === undefined) throw startAgain('identity-missing')
  if (!isStillAccepted(primary, seen, identity, now)) throw startAgain('login-voided')
  await refuseUnregistered(tx, primary)
}

/** Throws INVALID_AUTH_REQUEST if the credential of the login was removed or replaced (D-122). */
export async function refuseUnregistered(
  stores: Pick<Tx, 'authenticators' | 'passkeys'>,
  primary: ProvenPrimary,
): Promise<void> {
  const registered = await stores.authenticators.listOf(primary.identityId)
  if (!(await isStillRegistered(stores, primary, registered, 'login'))) {
    throw startAgain('authenticator-removed')
  }
}

/**
 * For the same step, after it has written the factor (D-485): a login that reused a session ends with it (D-345). Locks
 * the row of the session, because whatever ends it deletes that row. Throws INVALID_AUTH_REQUEST.
 */
export async function holdReused(
  { apiSessions }: Pick<Stores, 'apiSessions'>,
  { reusedSession }: Pick<PartiallyAuthenticated, 'reusedSession'>,
): Promise<void> {
  if (reusedSession !== undefined && (await apiSessions.hold(reusedSession)) === undefined) {
    throw startAgain('the session that was reused has ended')
  }
}

/**
 * For a login: the identity is still accepted, and the password or certificate is still the one that was presented
 * (D-122). Marks the credential as used now. Returns the identity, or undefined if one of these checks fails.
 */
export async function holdLogin(
  tx: Tx,
  { primary, identity: seen }: { readonly primary: ProvenPrimary; readonly identity: Identity },
  now: Instant,
): Promise<Identity | undefined> {
  const { identityId, authenticatorId, method, credentialVersion = 0, at } = primary
  const identity = await tx.identities.hold(identityId)
  if (identity === undefined || !isStillAccepted(primary, seen, identity, now)) return undefined
  if (authenticatorId === undefined) return identity
  if (method === 'passkey') {
    return (await tx.passkeys.find(authenticatorId)) === undefined ? undefined : identity
  }
  const fingerprint = provenFingerprint(primary)
  const isSame = await tx.authenticators.markUsed(
    authenticatorId,
    credentialVersion,
    at,
    fingerprint,
  )
  return isSame ? identity : undefined
}

/**
 * For a login with the identity as it was seen: it is enabled, unchanged in what ends sessions, and its sessions were not
 * all ended since (D-226).
 */
export function isStillAccepted(
  primary: ProvenPrimary,
  seen: Identity,
  identity: Identity,
  now: Instant,
): boolean {
  if (isDisabled(identity, now) || isVoided(primary, identity)) return false
  return !endsSessions(seen, identity)
}

/** D-34, D-122: tokens carry these values and calls rely on them. If one changes, every session ends. */
export function endsSessions(before: Identity, after: Identity): boolean {
  return (
    before.isAdmin !== after.isAdmin ||
    before.type !== after.type ||
    before.authPolicyId !== after.authPolicyId ||
    before.externalId !== after.externalId
  )
}
