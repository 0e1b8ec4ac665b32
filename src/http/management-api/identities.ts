/** /identities of the management API: API 3.3, 4.1. */

import type { z } from 'zod'
import type { AuthPolicyId } from '../../base/ids.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import { AuthenticatorListReply } from '../../contract/management/authenticators.ts'
import { CreatedIdentityReply } from '../../contract/management/enrollments.ts'
import {
  ChosenIdentity,
  Disablement,
  type Identity,
  IdentityListReply,
  IdentityReply,
  NewIdentity,
} from '../../contract/management/identities.ts'
import type { Authenticator } from '../../domain/identities/authenticator.ts'
import type * as domain from '../../domain/identities/identity.ts'
import { AUTHENTICATOR_FIELDS, IDENTITY_FIELDS } from '../../domain/lists/fields.ts'
import { createEnrollmentWithIdentity } from '../../domain/management/manage-enrollments.ts'
import {
  createIdentity,
  deleteIdentity,
  disableIdentity,
  enableIdentity,
  removeMfa,
} from '../../domain/management/manage-identities.ts'
import type { ManagementPorts } from '../../domain/management/ports.ts'
import {
  findIdentity,
  type IdentityDetail,
  listAuthenticatorsOf,
  listIdentities,
} from '../../domain/management/read-identities.ts'
import { updateIdentity } from '../../domain/management/update-identity.ts'
import { IDENTITY } from '../../entities/identity.ts'
import { created, found, idIn, listed, selfLink } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { patched } from '../edge-api/changed-body.ts'
import { computedOfIdentity } from '../edge-api/current/current-identity.ts'
import { chosenFields, managedFields } from '../edge-api/described-body.ts'
import { withFieldNames } from '../edge-api/field-names.ts'
import { Nothing } from '../edge-api/read-body.ts'
import { deferredBody, jsonBody } from '../reading/declared-body.ts'
import { authenticatorBody } from './authenticators.ts'
import { invited, kindOfNew, openEnrollments } from './enrollments.ts'

const ALL = '/identities'
const ONE = `${ALL}/:id` as const

/** The members of `enrollment`, by the names of POST /enrollments. */
const ENROLLMENT_NAMES = { username: 'enrollment.updb', caId: 'enrollment.ottca' } as const

/** PUT and PATCH. */
const CHANGE = {
  path: ONE,
  access: 'admin',
  description: 'Its sessions end if `isAdmin`, `type`, `authPolicyId` or `externalId` changes.',
  body: deferredBody(ChosenIdentity),
  codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
} as const

export function addIdentities(api: Api, ports: ManagementPorts): void {
  api.add(
    {
      method: 'POST',
      path: ALL,
      access: 'admin',
      summary: 'Create an identity',
      description: 'With `enrollment` it is invited to enroll; only this response has the token.',
      body: jsonBody(NewIdentity),
      answers: { 201: CreatedIdentityReply },
      codes: ['ENTITY_NAME_IN_USE'],
    },
    async ({ input: { enrollment, ...chosen }, caller }) => {
      const identity = chosenOf(chosen)
      if (enrollment === undefined) {
        return created('identities', await createIdentity(ports, identity, caller))
      }
      const kind = kindOfNew(enrollment)
      const invite = () => createEnrollmentWithIdentity(ports, identity, kind, caller)
      return invited(await withFieldNames(ENROLLMENT_NAMES, invite))
    },
  )

  api.add(
    {
      method: 'GET',
      path: ALL,
      access: 'admin',
      summary: 'List identities',
      list: IDENTITY_FIELDS,
      answers: { 200: IdentityListReply },
    },
    async ({ list }) => {
      const now = ports.clock.now()
      const details = await listIdentities(ports, list)
      return listed(IDENTITY_FIELDS, list, details, (detail) => identityBody(detail, now))
    },
  )

  api.add(
    {
      method: 'GET',
      path: ONE,
      access: 'admin',
      summary: 'Read an identity',
      answers: { 200: IdentityReply },
    },
    async ({ path }) =>
      found(identityBody(await findIdentity(ports, idIn(path)), ports.clock.now(), ports.vault)),
  )

  api.act(
    { ...CHANGE, method: 'PUT', summary: 'Replace an identity' },
    ({ path, body, input, caller }) =>
      updateIdentity(ports, idIn(path), () => chosenOf(input(body)), caller),
  )

  api.act(
    { ...CHANGE, method: 'PATCH', summary: 'Change an identity' },
    ({ path, body, input, caller }) => {
      const changed = (current: domain.Identity) =>
        chosenOf(input(patched(chosenFields(IDENTITY, current), body)))
      return updateIdentity(ports, idIn(path), changed, caller)
    },
  )

  api.act(
    {
      method: 'DELETE',
      path: ONE,
      access: 'admin',
      summary: 'Delete an identity',
      description: 'With its authenticators, its TOTP and its sessions.',
      codes: ['LAST_ADMINISTRATOR'],
    },
    ({ path, caller }) => deleteIdentity(ports, idIn(path), caller),
  )

  api.act(
    {
      method: 'POST',
      path: `${ONE}/disable`,
      access: 'admin',
      summary: 'Disable an identity',
      description: 'Ends all its sessions.',
      body: jsonBody(Disablement),
      codes: ['LAST_ADMINISTRATOR'],
    },
    ({ path, input: { durationMinutes }, caller }) =>
      disableIdentity(ports, idIn(path), durationMinutes, caller),
  )

  api.act(
    {
      method: 'POST',
      path: `${ONE}/enable`,
      access: 'admin',
      summary: 'Enable an identity',
      body: jsonBody(Nothing),
    },
    ({ path, caller }) => enableIdentity(ports, idIn(path), caller),
  )

  api.act(
    {
      method: 'DELETE',
      path: `${ONE}/mfa`,
      access: 'admin',
      summary: 'Remove the second factors of an identity',
      description:
        'For a lost phone: the authenticator app, every passkey and the recovery codes. Ends the sessions that a passkey began.',
      codes: ['MFA_NOT_ENROLLED'],
    },
    ({ path, caller }) => removeMfa(ports, idIn(path), caller),
  )

  api.add(
    {
      method: 'GET',
      path: `${ONE}/authenticators`,
      access: 'admin',
      summary: 'List the authenticators of an identity',
      list: AUTHENTICATOR_FIELDS,
      answers: { 200: AuthenticatorListReply },
    },
    async ({ path, list }) => {
      const now = ports.clock.now()
      const own = await listAuthenticatorsOf(ports, idIn(path), list)
      return listed(AUTHENTICATOR_FIELDS, list, own, (detail) => authenticatorBody(detail, now))
    },
  )
}

export function chosenOf({ externalId, authPolicyId, ...rest }: z.output<typeof ChosenIdentity>) {
  return {
    ...rest,
    externalId: externalId ?? undefined,
    authPolicyId: authPolicyId as AuthPolicyId | undefined,
  }
}

/** `vault`: for the detail of one identity, which shows the JWTs that open enrollments keep (D-317). */
function identityBody(detail: IdentityDetail, now: Instant, vault?: Vault): Identity {
  const { identity, authenticators, enrollments, hasApiSession } = detail
  return {
    ...managedFields(IDENTITY, identity),
    ...computedOfIdentity(detail, now),
    _links: selfLink(`identities/${identity.id}`),
    hasApiSession,
    authenticators: Object.assign({}, ...authenticators.map(summary)),
    enrollment: openEnrollments(enrollments, now, vault),
  }
}

function summary(authenticator: Authenticator): Identity['authenticators'] {
  const { id } = authenticator
  return authenticator.method === 'updb'
    ? { updb: { id, username: authenticator.username } }
    : { cert: { id, fingerprint: authenticator.fingerprint } }
}
