/** /cas of the management API: API 3.3, 4.6. */

import type { z } from 'zod'
import type { CaId } from '../../../base/ids.ts'
import { CreatedReply, DoneReply } from '../../../contract/envelope.ts'
import * as contract from '../../../contract/management/cas.ts'
import type { Ca } from '../../../domain/certificates/third-party/ca.ts'
import { CA_FIELDS } from '../../../domain/lists/fields.ts'
import { inviteByCa } from '../../../domain/management/ca-invitation.ts'
import {
  createCa,
  deleteCa,
  findCa,
  listCas,
  updateCa,
  verifyCa,
} from '../../../domain/management/manage-cas.ts'
import type { ManagementPorts } from '../../../domain/management/ports.ts'
import { CA } from '../../../entities/ca.ts'
import { text } from '../../answer.ts'
import { created, done, found, idIn, listed, selfLink } from '../../edge-api/answers.ts'
import type { Api } from '../../edge-api/api.ts'
import { patched, withDefaults } from '../../edge-api/changed-body.ts'
import { chosenFields, managedFields } from '../../edge-api/described-body.ts'
import { deferredBody, jsonBody, textBody } from '../../reading/declared-body.ts'

const ALL = '/cas'
const ONE = `${ALL}/:id` as const

export function addCas(api: Api, ports: ManagementPorts): void {
  api.add(
    {
      method: 'POST',
      path: ALL,
      access: 'admin',
      summary: 'Register a third-party CA',
      description: 'It has no effect until it is verified.',
      body: jsonBody(contract.NewCa),
      answers: { 201: CreatedReply },
      codes: ['ENTITY_NAME_IN_USE', 'CERT_IN_USE', 'INVALID_CERT_PEM', 'CERTIFICATE_IS_NOT_CA'],
    },
    async ({ input, caller }) => created('cas', await createCa(ports, chosenOf(input), caller)),
  )

  api.add(
    {
      method: 'GET',
      path: ALL,
      access: 'admin',
      summary: 'List third-party CAs',
      list: CA_FIELDS,
      answers: { 200: contract.CaListReply },
    },
    async ({ list }) => listed(CA_FIELDS, list, await listCas(ports, list), caBody),
  )

  api.add(
    {
      method: 'GET',
      path: ONE,
      access: 'admin',
      summary: 'Read a third-party CA',
      answers: { 200: contract.CaReply },
    },
    async ({ path }) => found(caBody(await findCa(ports, idIn(path)))),
  )

  api.add(
    {
      method: 'PUT',
      path: ONE,
      access: 'admin',
      summary: 'Replace a third-party CA',
      body: deferredBody(contract.NewCa, { mayOmit: ['certPem'] }),
      answers: { 200: DoneReply },
      codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
    },
    async ({ path, body, input, caller }) => {
      const chosen = ({ certPem }: Ca) => chosenOf(input(withDefaults({ certPem }, body)))
      await updateCa(ports, idIn<CaId>(path), chosen, caller)
      return done()
    },
  )

  api.add(
    {
      method: 'PATCH',
      path: ONE,
      access: 'admin',
      summary: 'Change a third-party CA',
      body: deferredBody(contract.NewCa),
      answers: { 200: DoneReply },
      codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
    },
    async ({ path, body, input, caller }) => {
      const changed = (current: Ca) => chosenOf(input(patched(chosenOfCa(current), body)))
      await updateCa(ports, idIn<CaId>(path), changed, caller)
      return done()
    },
  )

  api.add(
    {
      method: 'DELETE',
      path: ONE,
      access: 'admin',
      summary: 'Delete a third-party CA',
      answers: { 200: DoneReply },
      codes: ['LAST_ADMINISTRATOR'],
    },
    async ({ path, caller }) => {
      await deleteCa(ports, idIn<CaId>(path), caller)
      return done()
    },
  )

  api.add(
    {
      method: 'POST',
      path: `${ONE}/verify`,
      access: 'admin',
      summary: 'Prove that you have the key of a CA',
      body: textBody(
        'A certificate in PEM that the CA has signed, with the `verificationToken` as its common name.',
      ),
      answers: { 200: DoneReply },
      codes: [
        'INVALID_CERT_PEM',
        'CERT_FAILED_VALIDATION',
        'INVALID_COMMON_NAME',
        'CA_ALREADY_VERIFIED',
      ],
    },
    async ({ path, body, caller }) => {
      const pem = body.kind === 'text' ? body.text : ''
      await verifyCa(ports, idIn<CaId>(path), pem, caller)
      return done()
    },
  )

  // D-132.
  api.add(
    {
      method: 'GET',
      path: `${ONE}/jwt`,
      access: 'admin',
      summary: 'Read the JWT for enrolling with certificates of a CA',
      answers: {
        200: { types: ['application/jwt'], about: 'A JWT with `em: "ca"`, signed by this server.' },
      },
      codes: ['COULD_NOT_VALIDATE'],
    },
    async ({ path }) => {
      const jwt = await inviteByCa(ports, idIn(path))
      return text('application/jwt', jwt.reveal()) // RFC 7519 §10.3.1
    },
  )
}

export function chosenOf({ externalIdClaim, ...ca }: z.output<typeof contract.NewCa>) {
  return { ...ca, externalIdClaim: externalIdClaim ?? undefined }
}

/** Returns it as a body that would create it. */
export function chosenOfCa(ca: Ca): z.input<typeof contract.NewCa> {
  return { ...chosenFields(CA, ca), externalIdClaim: ca.externalIdClaim }
}

function caBody(ca: Ca): contract.Ca {
  return {
    ...managedFields(CA, ca),
    _links: selfLink(`cas/${ca.id}`),
    externalIdClaim: ca.externalIdClaim ?? null,
  }
}
