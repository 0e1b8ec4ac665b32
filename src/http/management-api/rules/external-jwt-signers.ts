/** /external-jwt-signers of the management API: API 3.3, 4.5. */

import type { z } from 'zod'
import type { ExternalJwtSignerId } from '../../../base/ids.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import { CreatedReply, DoneReply } from '../../../contract/envelope.ts'
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
import { created, done, found, idIn, listed, selfLink, timeOrNull } from '../../edge-api/answers.ts'
import type { Api } from '../../edge-api/api.ts'
import { patched } from '../../edge-api/changed-body.ts'
import { chosenFields, managedFields } from '../../edge-api/described-body.ts'
import { deferredBody, jsonBody } from '../../reading/declared-body.ts'

const ALL = '/external-jwt-signers'
const ONE = `${ALL}/:id` as const

export function addManagedSigners(api: Api, ports: ManagementPorts): void {
  api.add(
    {
      method: 'POST',
      path: ALL,
      access: 'admin',
      summary: 'Create an External JWT Signer',
      body: jsonBody(contract.NewExternalJwtSigner),
      answers: { 201: CreatedReply },
      codes: ['ENTITY_NAME_IN_USE', 'INVALID_CERT_PEM'],
    },
    async ({ input, caller }) =>
      created('external-jwt-signers', await createSigner(ports, chosenOf(input), caller)),
  )

  api.add(
    {
      method: 'GET',
      path: ALL,
      access: 'admin',
      summary: 'List External JWT Signers',
      list: SIGNER_FIELDS,
      answers: { 200: contract.ExternalJwtSignerListReply },
    },
    async ({ list }) => listed(SIGNER_FIELDS, list, await listSigners(ports, list), signerBody),
  )

  api.add(
    {
      method: 'GET',
      path: ONE,
      access: 'admin',
      summary: 'Read an External JWT Signer',
      answers: { 200: contract.ExternalJwtSignerReply },
    },
    async ({ path }) => found(signerBody(await findSigner(ports, idIn(path)))),
  )

  api.add(
    {
      method: 'PUT',
      path: ONE,
      access: 'admin',
      summary: 'Replace an External JWT Signer',
      body: deferredBody(contract.NewExternalJwtSigner),
      answers: { 200: DoneReply },
      codes: ['ENTITY_NAME_IN_USE', 'INVALID_CERT_PEM', 'LAST_ADMINISTRATOR'],
    },
    async ({ path, body, input, caller }) => {
      const chosen = () => chosenOf(input(body))
      await updateSigner(ports, idIn<ExternalJwtSignerId>(path), chosen, caller)
      return done()
    },
  )

  api.add(
    {
      method: 'PATCH',
      path: ONE,
      access: 'admin',
      summary: 'Change an External JWT Signer',
      body: deferredBody(contract.NewExternalJwtSigner),
      answers: { 200: DoneReply },
      codes: ['ENTITY_NAME_IN_USE', 'INVALID_CERT_PEM', 'LAST_ADMINISTRATOR'],
    },
    async ({ path, body, input, caller }) => {
      const changed = (current: ExternalJwtSigner) =>
        chosenOf(input(patched(chosenOfSigner(current), body)))
      await updateSigner(ports, idIn<ExternalJwtSignerId>(path), changed, caller)
      return done()
    },
  )

  api.add(
    {
      method: 'DELETE',
      path: ONE,
      access: 'admin',
      summary: 'Delete an External JWT Signer',
      answers: { 200: DoneReply },
      codes: ['CAN_NOT_DELETE_REFERENCED_ENTITY', 'LAST_ADMINISTRATOR'],
    },
    async ({ path, caller }) => {
      await deleteSigner(ports, idIn<ExternalJwtSignerId>(path), caller)
      return done()
    },
  )

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
