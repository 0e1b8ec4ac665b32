/** /external-jwt-signers of the management API: API 3.3, 4.5. */

import type { ExternalJwtSignerId } from '../../base/ids.ts'
import * as contract from '../../contract/management/external-jwt-signers.ts'
import type { ManageExternalJwtSigners, SignerDetail } from '../../domain/ext-jwt/manage.ts'
import type { SignerKeys } from '../../domain/ext-jwt/signer.ts'
import { SIGNER_FIELDS } from '../../domain/lists/fields.ts'
import { created, done, entity, found, idIn, listed, timeOrNull } from '../edge-api/answers.ts'
import { publicSigner } from '../edge-api/external-jwt-signers.ts'
import { readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { CREATE, READ, REMOVE } from './route-defaults.ts'

export function addManagedSigners(
  router: Router,
  prefix: string,
  { manage }: { readonly manage: ManageExternalJwtSigners },
): void {
  const all = `${prefix}/external-jwt-signers`
  const one = `${all}/:id`

  router.add({ ...CREATE, url: all }, async ({ body, caller }) => {
    const given = readBody(contract.NewExternalJwtSigner, body)
    const { jwksEndpoint, certPem, kid, externalAuthUrl, clientId, ...rest } = given
    // Exactly one of the two is there: the contract has seen to it.
    const keys: SignerKeys =
      typeof certPem === 'string'
        ? { kind: 'certificate', certPem, kid: kid ?? undefined }
        : { kind: 'jwks', jwksEndpoint: jwksEndpoint ?? '' }
    const signer = {
      ...rest,
      keys,
      externalAuthUrl: externalAuthUrl ?? undefined,
      clientId: clientId ?? undefined,
    }
    return created('external-jwt-signers', await manage.create(signer, caller))
  })

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, SIGNER_FIELDS)
    return listed(SIGNER_FIELDS, asked, await manage.list(asked), signerBody)
  })

  router.add({ ...READ, url: one }, async ({ path }) =>
    found(signerBody(await manage.find(idIn(path)))),
  )

  router.add({ ...REMOVE, url: one }, async ({ path, caller }) => {
    await manage.remove(idIn<ExternalJwtSignerId>(path), caller)
    return done()
  })
}

function signerBody({ signer, certificate, keySet }: SignerDetail): contract.ExternalJwtSigner {
  const { keys } = signer
  return {
    ...entity('external-jwt-signers', signer),
    ...publicSigner(signer),
    enabled: signer.enabled,
    jwksEndpoint: keys.kind === 'jwks' ? keys.jwksEndpoint : null,
    certPem: keys.kind === 'certificate' ? keys.certPem : null,
    kid: keys.kind === 'certificate' ? (keys.kid ?? null) : null,
    claimsProperty: signer.claimsProperty,
    useExternalId: signer.useExternalId,
    fingerprint: certificate?.fingerprint ?? null,
    commonName: certificate?.commonName ?? null,
    notBefore: timeOrNull(certificate?.notBefore),
    notAfter: timeOrNull(certificate?.notAfter),
    lastFetchedAt: timeOrNull(keySet?.lastFetchedAt),
    lastError: keySet?.lastError ?? null,
    keys: (keySet?.keys ?? []).map(({ kid, algorithms }) => ({
      kid: kid ?? null,
      algorithms: [...algorithms],
    })),
  }
}
