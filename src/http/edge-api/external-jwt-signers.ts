/** GET /external-jwt-signers of the client API: the accepted token issuers, for a client before login. API 3.1, 4.5. */

import {
  type PublicSigner,
  PublicSignerListReply,
} from '../../contract/management/external-jwt-signers.ts'
import type { ExternalJwtSigner } from '../../domain/ext-jwt/signer.ts'
import { listInMemory } from '../../domain/lists/evaluate.ts'
import { PUBLIC_SIGNER_FIELDS } from '../../domain/lists/fields.ts'
import type { SessionPorts } from '../../domain/sessions/ports.ts'
import { PUBLIC_SIGNER } from '../../entities/external-jwt-signer.ts'
import { listed } from './answers.ts'
import type { Api } from './api.ts'
import { managedFields } from './described-body.ts'

export function addExternalJwtSigners(api: Api, ports: Pick<SessionPorts, 'rules'>): void {
  api.add(
    {
      method: 'GET',
      path: '/external-jwt-signers',
      access: 'public',
      summary: 'List the signers whose external JWTs are accepted',
      list: PUBLIC_SIGNER_FIELDS,
      answers: { 200: PublicSignerListReply },
    },
    ({ list }) => {
      const enabled = ports.rules.signers().filter((signer) => signer.enabled)
      return listed(PUBLIC_SIGNER_FIELDS, list, listInMemory(enabled, list), publicSigner)
    },
  )
}

function publicSigner(signer: ExternalJwtSigner): PublicSigner {
  return managedFields(PUBLIC_SIGNER, signer)
}
