/** GET /external-jwt-signers of the client API: whose tokens count here, for somebody who wants to log in. API 3.1, 4.5. */

import type { PublicSigner } from '../../contract/management/external-jwt-signers.ts'
import type { ExternalJwtSigner } from '../../domain/ext-jwt/signer.ts'
import { listInMemory } from '../../domain/lists/evaluate.ts'
import { PUBLIC_SIGNER_FIELDS } from '../../domain/lists/fields.ts'
import type { Rules } from '../../domain/policies/rules.ts'
import type { Router } from '../route.ts'
import { listed } from './answers.ts'
import { readList } from './read-list.ts'
import { API_ROUTE } from './route-defaults.ts'

export function addExternalJwtSigners(
  router: Router,
  prefix: string,
  use: { readonly rules: Pick<Rules, 'signers'> },
): void {
  const url = `${prefix}/external-jwt-signers`
  router.add(
    { ...API_ROUTE, access: 'public', method: 'GET', url, replies: [200] },
    ({ query }) => {
      const asked = readList(query, PUBLIC_SIGNER_FIELDS)
      const enabled = use.rules.signers().filter((signer) => signer.enabled)
      return listed(PUBLIC_SIGNER_FIELDS, asked, listInMemory(enabled, asked), publicSigner)
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
