/** Lets an administrator see and remove the passkeys of an identity: D-430, D-437. */
import type { AuthenticatorId, IdentityId } from '../../../base/ids.ts'
import type { Caller } from '../../audit/events.ts'
import type { Passkey } from '../../factors/passkey/passkey.ts'
import { notFound, orNotFound } from '../../refusals.ts'
import type { EndingPorts } from '../../sessions/ending/ports.ts'
import { removePasskeyWithin } from '../../sessions/session-passkeys.ts'
import type { Stores, Transaction } from '../../stores.ts'

/** Throws NOT_FOUND. */
export async function listPasskeysOf(
  { identities, passkeys }: Pick<Stores, 'identities' | 'passkeys'>,
  id: IdentityId,
): Promise<readonly Passkey[]> {
  orNotFound(await identities.find(id))
  return passkeys.listOf(id)
}

/** Ends the sessions that it began. Throws NOT_FOUND. */
export function removePasskey(
  ports: EndingPorts & { readonly transaction: Transaction },
  { identityId, id }: { readonly identityId: IdentityId; readonly id: AuthenticatorId },
  caller: Caller,
): Promise<void> {
  return ports.transaction(async (tx) => {
    await tx.identities.hold(identityId)
    const found = await tx.passkeys.find(id)
    if (found?.identityId !== identityId) throw notFound()
    await removePasskeyWithin(ports, tx, found, caller)
  })
}
