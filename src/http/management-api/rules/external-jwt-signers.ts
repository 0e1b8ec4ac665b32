/** /external-jwt-signers of the management API: API 3.3, 4.5. */

import type { z } from 'zod'
import type { ExternalJwtSignerId } from '../../../base/ids.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import * as contract from '../../../contract/management/external-jwt-signers.ts'
import { CheckedJwtReply, SignerCheck } from '../../../contract/management/signer-check.ts'
import {
  SignerDiscovery,
  SignerProposalReply,
} from '../../../contract/management/signer-discovery.ts'
import type { ExternalJwtSigner, SignerKeys } from '../../../domain/ext-jwt/signer.ts'
import { SIGNER_FIELDS } from '../../../domain/lists/fields.ts'
import { checkSigner, findCheckedSigner } from '../../../domain/management/check-signer.ts'
import {
  createSigner,
  deleteSigner,
  findSigner,
  listSigners,
  type SignerDetail,
  updateSigner,
} from '../../../domain/management/manage-signers.ts'
import type { ManagementPorts } from '../../../domain/management/ports.ts'
import { discoverSigner } from '../../../domain/management/signers/discover-signer.ts'
import { EXTERNAL_JWT_SIGNER } from '../../../entities/external-jwt-signer.ts'
import { found, idIn, selfLink, timeOrNull } from '../../edge-api/answers.ts'
import type { Api } from '../../edge-api/api.ts'
import { chosenFields, managedFields } from '../../edge-api/described-body.ts'
import { deferredBody, jsonBody } from '../../reading/declared-body.ts'
import { addRuleRoutes } from './rule-routes.ts'

const ALL = '/external-jwt-signers'
const ONE = `${ALL}/:id` as const

export function addManagedSigners(api: Api, ports: ManagementPorts): void {
  addRuleRoutes(api, {
    path: ALL,
    one: 'an External JWT Signer',
    many: 'External JWT Signers',
    fields: SIGNER_FIELDS,
    shape: contract.NewExternalJwtSigner,
    replies: {
      one: contract.ExternalJwtSignerReply,
      list: contract.ExternalJwtSignerListReply,
    },
    create: {
      summary: 'Create an External JWT Signer',
      codes: ['ENTITY_NAME_IN_USE', 'INVALID_CERT_PEM'],
      run: (input, caller) => createSigner(ports, chosenOf(input), caller),
    },
    list: (query) => listSigners(ports, query),
    find: (id: ExternalJwtSignerId) => findSigner(ports, id),
    show: signerBody,
    update: {
      codes: ['ENTITY_NAME_IN_USE', 'INVALID_CERT_PEM', 'LAST_ADMINISTRATOR'],
      bodyOf: chosenOfSigner,
      run: (id, change, caller) =>
        updateSigner(ports, id, (current) => chosenOf(change(current)), caller),
    },
    remove: {
      codes: ['CAN_NOT_DELETE_REFERENCED_ENTITY', 'LAST_ADMINISTRATOR'],
      run: (id, caller) => deleteSigner(ports, id, caller),
    },
  })

  api.add(
    {
      method: 'POST',
      path: `${ALL}/discover`,
      access: 'admin',
      summary: 'Propose a signer from a discovery document',
      description:
        'Fetches the OpenID Connect discovery document of an issuer and returns the fields of a signer for it. Creates nothing: add a name and POST them.',
      body: jsonBody(SignerDiscovery),
      answers: { 200: SignerProposalReply },
    },
    async ({ input }) => {
      const { url, clientId, audience } = input
      const proposal = await discoverSigner(ports, { url, clientId, audience })
      return found({
        ...proposal,
        audience: proposal.audience ?? null,
        externalAuthUrl: proposal.externalAuthUrl ?? null,
        clientId: proposal.clientId ?? null,
        scopes: [...proposal.scopes],
        claims: [...proposal.claims],
      })
    },
  )

  // D-136: reports whether a login with this JWT would be accepted, and if not, why. Looks up the signer first.
  api.add(
    {
      method: 'POST',
      path: `${ONE}/check`,
      access: 'admin',
      summary: 'Check a JWT against a signer',
      description:
        'A dry run: every step of a login with it, with expected and received values. It does not log in.',
      body: deferredBody(SignerCheck),
      answers: { 200: CheckedJwtReply },
    },
    async ({ path, body, input }) => {
      const signer = await findCheckedSigner(ports, idIn(path))
      const { jwt } = input(body)
      const { passed, steps } = await checkSigner(ports, signer, new Secret(jwt))
      return found({ passed, steps: [...steps] })
    },
  )
}

export function chosenOf(given: z.output<typeof contract.NewExternalJwtSigner>) {
  const { jwksEndpoint, certPem, kid, externalAuthUrl, clientId, ...rest } = given
  // Exactly one of the two is set: the contract has already checked it.
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

/** Returns it as a body that would create it. */
export function chosenOfSigner(
  signer: ExternalJwtSigner,
): z.input<typeof contract.NewExternalJwtSigner> {
  const { kind, ...keyFields } = signer.keys
  return { ...chosenFields(EXTERNAL_JWT_SIGNER, signer), ...keyFields }
}

function signerBody({ signer, certificate, keySet }: SignerDetail): contract.ExternalJwtSigner {
  const { keys } = signer
  return {
    ...managedFields(EXTERNAL_JWT_SIGNER, signer),
    _links: selfLink(`external-jwt-signers/${signer.id}`),
    jwksEndpoint: keys.kind === 'jwks' ? keys.jwksEndpoint : null,
    certPem: keys.kind === 'certificate' ? keys.certPem : null,
    kid: keys.kind === 'certificate' ? (keys.kid ?? null) : null,
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
