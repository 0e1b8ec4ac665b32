/**
 * The last check before a login becomes a session, inside the transaction that does it. It locks the row of the
 * identity. So a transaction that disables or changes the identity, or removes its credential, runs afterwards, finds the
 * session and ends it.
 */
import type { IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import { type ProvenPrimary, provenFingerprint } from '../factors/proven.ts'
import { type Identity, isDisabled } from '../identities/identity.ts'
import type { Stores } from '../stores.ts'
import { isVoided } from './check-again.ts'
import { startAgain } from './request/find-request.ts'

type Tx = Pick<Stores, 'identities' | 'authenticators' | 'passkeys'>

/**
 * For a step that writes what refers to the identity (D-284). Throws INVALID_AUTH_REQUEST if it was deleted meanwhile.
 */
export async function holdIdentity(
  tx: Pick<Tx, 'identities'>,
  identityId: IdentityId,
): Promise<void> {
  if ((await tx.identities.hold(identityId)) === undefined) throw startAgain('identity-missing')
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
