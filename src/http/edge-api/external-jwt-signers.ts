/** GET /external-jwt-signers of the client API: whose tokens count here, for somebody who wants to log in. API 3.1, 4.5. */

import {
  type PublicSigner,
  PublicSignerListReply,
} from '../../contract/management/external-jwt-signers.ts'
import type { ExternalJwtSigner } from '../../domain/ext-jwt/signer.ts'
import { listInMemory } from '../../domain/lists/evaluate.ts'
import { PUBLIC_SIGNER_FIELDS } from '../../domain/lists/fields.ts'
import type { SessionPorts } from '../../domain/sessions/ports.ts'
import { listed } from './answers.ts'
import type { Api } from './api.ts'

export function addExternalJwtSigners(api: Api, ports: Pick<SessionPorts, 'rules'>): void {
  api.add(
    {
      method: 'GET',
      path: '/external-jwt-signers',
      access: 'public',
      summary: 'List whose external JWTs count here',
      list: PUBLIC_SIGNER_FIELDS,
      answers: { 200: PublicSignerListReply },
    },
    ({ list }) => {
      const enabled = ports.rules.signers().filter((signer) => signer.enabled)
      return listed(PUBLIC_SIGNER_FIELDS, list, listInMemory(enabled, list), publicSigner)
    },
  )
}

/** Nothing about keys or claims: strangers read this. */
export function publicSigner(signer: ExternalJwtSigner): PublicSigner {
  return {
    id: signer.id,
    name: signer.name,
    issuer: signer.issuer,
    audience: signer.audience,
    externalAuthUrl: signer.externalAuthUrl ?? null,
    clientId: signer.clientId ?? null,
    scopes: [...signer.scopes],
    targetToken: signer.targetToken,
  }
}
