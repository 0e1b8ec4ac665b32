/** A passkey in the responses of both APIs. */
import { toRfc3339 } from '../../base/time/instant.ts'
import type { Passkey } from '../../contract/passkeys.ts'
import type * as domain from '../../domain/factors/passkey/passkey.ts'
import { selfLink, timeOrNull } from './answers.ts'

/** `under`: the path of the list. */
export function passkeyBody(passkey: domain.Passkey, under: string): Passkey {
  const { id, name, createdAt, lastUsedAt, rpId, aaguid, transports } = passkey
  const { isBackupEligible, isBackedUp } = passkey
  return {
    id,
    name,
    createdAt: toRfc3339(createdAt),
    lastUsedAt: timeOrNull(lastUsedAt),
    rpId,
    aaguid,
    transports: [...transports],
    isBackupEligible,
    isBackedUp,
    _links: selfLink(`${under}/${id}`),
  }
}
