/**
 * The last look before a login becomes a session, in the transaction that makes it: the identity is there and enabled,
 * and what proved it has not been removed. Its row is held, so whoever disables it or removes the authenticator
 * meanwhile finds the session afterwards, and ends it.
 */
import type { Instant } from '../../base/instant.ts'
import { isDisabled } from '../identities/identity.ts'
import type { Stores } from '../stores.ts'
import type { ProvenPrimary } from './proven.ts'

export async function holdOwner(
  tx: Pick<Stores, 'identities' | 'authenticators'>,
  { identityId, authenticatorId }: ProvenPrimary,
  now: Instant,
): Promise<boolean> {
  const identity = await tx.identities.hold(identityId)
  if (identity === undefined || isDisabled(identity, now)) return false
  return (
    authenticatorId === undefined || (await tx.authenticators.find(authenticatorId)) !== undefined
  )
}
