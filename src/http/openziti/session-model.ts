/**
 * The session that a call begins or belongs to, with what SDKs decide by: D-473. The C SDK renews a certificate only if
 * the session says that it can be renewed, and takes the time of the last use as the time of the controller.
 */
import type { AuthenticatorId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'

export type SessionModelPorts = Pick<AccountPorts, 'authenticators' | 'clock'>

export async function sessionModel(
  ports: SessionModelPorts,
  session: JsonObject,
): Promise<JsonObject> {
  const { authenticatorId: id } = session
  const found =
    typeof id === 'string' ? await ports.authenticators.find(id as AuthenticatorId) : undefined
  return {
    ...session,
    isCertExtendable: found?.method === 'cert' && found.isIssuedByNetwork,
    cachedLastActivityAt: toRfc3339(ports.clock.now()),
  }
}
