/** /identities/{id}/passkeys of the management API: D-430. Their owners add them; an administrator sees and removes them. */
import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import { PasskeysReply } from '../../contract/passkeys.ts'
import { listPasskeysOf, removePasskey } from '../../domain/management/passkeys/manage-passkeys.ts'
import type { ManagementPorts } from '../../domain/management/ports.ts'
import { found, idIn } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { passkeyBody } from '../edge-api/passkey-body.ts'

const ALL = '/identities/:id/passkeys'

export function addPasskeys(api: Api, ports: ManagementPorts): void {
  api.add(
    {
      method: 'GET',
      path: ALL,
      access: 'admin',
      summary: 'List the passkeys of an identity',
      description: 'At most 20, oldest first.',
      answers: { 200: PasskeysReply },
    },
    async ({ path }) => {
      const id = idIn<IdentityId>(path)
      const passkeys = await listPasskeysOf(ports, id)
      return found(passkeys.map((one) => passkeyBody(one, `identities/${id}/passkeys`)))
    },
  )

  api.act(
    {
      method: 'DELETE',
      path: `${ALL}/:passkeyId`,
      access: 'admin',
      summary: 'Remove a passkey of an identity',
      description: 'Ends the sessions that began with it.',
    },
    async ({ path, caller }) => {
      const id = path.passkeyId as AuthenticatorId
      await removePasskey(ports, { identityId: idIn(path), id }, caller)
    },
  )
}
