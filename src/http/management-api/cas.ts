/** /cas of the management API: API 3.3, 4.6. */

import type { z } from 'zod'
import type { CaId } from '../../base/ids.ts'
import * as contract from '../../contract/management/cas.ts'
import type { Ca } from '../../domain/certificates/third-party/ca.ts'
import type { ManageCas } from '../../domain/certificates/third-party/manage-cas.ts'
import { CA_FIELDS } from '../../domain/lists/fields.ts'
import { created, done, entity, found, idIn, listed } from '../edge-api/answers.ts'
import { patched, withDefaults } from '../edge-api/changed-body.ts'
import { readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { ACT, CHANGE, CREATE, READ, REMOVE, REPLACE } from './route-defaults.ts'

export function addCas(
  router: Router,
  prefix: string,
  { manage }: { readonly manage: ManageCas },
): void {
  const all = `${prefix}/cas`
  const one = `${all}/:id`

  router.add({ ...CREATE, url: all }, async ({ body, caller }) => {
    return created('cas', await manage.create(chosenOf(readBody(contract.NewCa, body)), caller))
  })

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, CA_FIELDS)
    return listed(CA_FIELDS, asked, await manage.list(asked), caBody)
  })

  router.add({ ...READ, url: one }, async ({ path }) =>
    found(caBody(await manage.find(idIn(path)))),
  )

  router.add({ ...REPLACE, url: one }, async ({ path, body, caller }) => {
    const chosen = ({ certPem }: Ca) =>
      chosenOf(readBody(contract.NewCa, withDefaults({ certPem }, body)))
    await manage.update(idIn<CaId>(path), chosen, caller)
    return done()
  })

  router.add({ ...CHANGE, url: one }, async ({ path, body, caller }) => {
    const changed = (current: Ca) =>
      chosenOf(readBody(contract.NewCa, patched(chosenFields(current), body)))
    await manage.update(idIn<CaId>(path), changed, caller)
    return done()
  })

  router.add({ ...REMOVE, url: one }, async ({ path, caller }) => {
    await manage.remove(idIn<CaId>(path), caller)
    return done()
  })

  router.add({ ...ACT, reads: ['text'], url: `${one}/verify` }, async ({ path, body, caller }) => {
    const pem = body.kind === 'text' ? body.text : ''
    await manage.verify(idIn<CaId>(path), pem, caller)
    return done()
  })
}

function chosenOf({ externalIdClaim, ...ca }: z.output<typeof contract.NewCa>) {
  return { ...ca, externalIdClaim: externalIdClaim ?? undefined }
}

/** As a body that would make it. */
function chosenFields(ca: Ca): z.input<typeof contract.NewCa> {
  const { id, fingerprint, isVerified, verificationToken, createdAt, updatedAt, ...rest } = ca
  return { ...rest, identityRoles: [...ca.identityRoles] }
}

function caBody(ca: Ca): contract.Ca {
  return {
    ...entity('cas', ca),
    name: ca.name,
    certPem: ca.certPem,
    fingerprint: ca.fingerprint,
    isVerified: ca.isVerified,
    verificationToken: ca.verificationToken ?? null,
    isAuthEnabled: ca.isAuthEnabled,
    isOttCaEnrollmentEnabled: ca.isOttCaEnrollmentEnabled,
    isAutoCaEnrollmentEnabled: ca.isAutoCaEnrollmentEnabled,
    identityRoles: [...ca.identityRoles],
    identityNameFormat: ca.identityNameFormat,
    externalIdClaim: ca.externalIdClaim ?? null,
  }
}
