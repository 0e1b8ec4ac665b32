/** /cas of the management API: API 3.3, 4.6. */

import type { z } from 'zod'
import type { CaId } from '../../../base/ids.ts'
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
import { idIn, selfLink } from '../../edge-api/answers.ts'
import type { Api } from '../../edge-api/api.ts'
import { chosenFields, managedFields } from '../../edge-api/described-body.ts'
import { textBody } from '../../reading/declared-body.ts'
import { addRuleRoutes } from './rule-routes.ts'

const ALL = '/cas'
const ONE = `${ALL}/:id` as const

export function addCas(api: Api, ports: ManagementPorts): void {
  addRuleRoutes(api, {
    path: ALL,
    one: 'a third-party CA',
    many: 'third-party CAs',
    fields: CA_FIELDS,
    shape: contract.NewCa,
    replies: { one: contract.CaReply, list: contract.CaListReply },
    create: {
      summary: 'Register a third-party CA',
      description: 'It has no effect until it is verified.',
      codes: ['ENTITY_NAME_IN_USE', 'CERT_IN_USE', 'INVALID_CERT_PEM', 'CERTIFICATE_IS_NOT_CA'],
      run: (input, caller) => createCa(ports, chosenOf(input), caller),
    },
    list: (query) => listCas(ports, query),
    find: (id: CaId) => findCa(ports, id),
    show: caBody,
    update: {
      codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
      bodyOf: chosenOfCa,
      fixed: ['certPem'],
      run: (id, change, caller) =>
        updateCa(ports, id, (current) => chosenOf(change(current)), caller),
    },
    remove: {
      codes: ['LAST_ADMINISTRATOR'],
      run: (id, caller) => deleteCa(ports, id, caller),
    },
  })

  api.act(
    {
      method: 'POST',
      path: `${ONE}/verify`,
      access: 'admin',
      summary: 'Prove that you have the key of a CA',
      body: textBody(
        'A certificate in PEM that the CA has signed, with the `verificationToken` as its common name.',
      ),
      codes: [
        'INVALID_CERT_PEM',
        'CERT_FAILED_VALIDATION',
        'INVALID_COMMON_NAME',
        'CA_ALREADY_VERIFIED',
      ],
    },
    async ({ path, body, caller }) => {
      const pem = body.kind === 'text' ? body.text : ''
      await verifyCa(ports, idIn(path), pem, caller)
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
