/** /external-jwt-signers of the management API: API 3.3, 4.5. */

import type { z } from 'zod'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import * as contract from '../../contract/management/external-jwt-signers.ts'
import type { ManageExternalJwtSigners, SignerDetail } from '../../domain/ext-jwt/manage.ts'
import type { ExternalJwtSigner, SignerKeys } from '../../domain/ext-jwt/signer.ts'
import { SIGNER_FIELDS } from '../../domain/lists/fields.ts'
import { created, done, entity, found, idIn, listed, timeOrNull } from '../edge-api/answers.ts'
import { patched } from '../edge-api/changed-body.ts'
import { publicSigner } from '../edge-api/external-jwt-signers.ts'
import { readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { CHANGE, CREATE, READ, REMOVE, REPLACE } from './route-defaults.ts'

export function addManagedSigners(
  router: Router,
  prefix: string,
  { manage }: { readonly manage: ManageExternalJwtSigners },
): void {
  const all = `${prefix}/external-jwt-signers`
  const one = `${all}/:id`

  router.add({ ...CREATE, url: all }, async ({ body, caller }) => {
    const signer = chosenOf(readBody(contract.NewExternalJwtSigner, body))
    return created('external-jwt-signers', await manage.create(signer, caller))
  })

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, SIGNER_FIELDS)
    return listed(SIGNER_FIELDS, asked, await manage.list(asked), signerBody)
  })

  router.add({ ...READ, url: one }, async ({ path }) =>
    found(signerBody(await manage.find(idIn(path)))),
  )

  router.add({ ...REPLACE, url: one }, async ({ path, body, caller }) => {
    const chosen = () => chosenOf(readBody(contract.NewExternalJwtSigner, body))
    await manage.update(idIn<ExternalJwtSignerId>(path), chosen, caller)
    return done()
  })

  router.add({ ...CHANGE, url: one }, async ({ path, body, caller }) => {
    const changed = (current: ExternalJwtSigner) =>
      chosenOf(readBody(contract.NewExternalJwtSigner, patched(chosenFields(current), body)))
    await manage.update(idIn<ExternalJwtSignerId>(path), changed, caller)
    return done()
  })

  router.add({ ...REMOVE, url: one }, async ({ path, caller }) => {
    await manage.remove(idIn<ExternalJwtSignerId>(path), caller)
    return done()
  })
}

function chosenOf(given: z.output<typeof contract.NewExternalJwtSigner>) {
  const { jwksEndpoint, certPem, kid, externalAuthUrl, clientId, ...rest } = given
  // Exactly one of the two is there: the contract has seen to it.
  const keys: SignerKeys =
    typeof certPem === 'string'
      ? { kind: 'certificate', certPem, kid: kid ?? undefined }
      : { kind: 'jwks', jwksEndpoint: jwksEndpoint ?? '' }
  return {
    ...rest,
    keys,
    externalAuthUrl: externalAuthUrl ?? undefined,
    clientId: clientId ?? undefined,
  }
}

/** As a body that would make it. */
function chosenFields(signer: ExternalJwtSigner): z.input<typeof contract.NewExternalJwtSigner> {
  const { id, createdAt, updatedAt, keys, ...rest } = signer
  const { kind, ...keyFields } = keys
  return { ...rest, ...keyFields, scopes: [...signer.scopes] }
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
