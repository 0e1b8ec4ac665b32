/** /authenticators of the management API: API 3.3, 4.2. Password hashes are never returned. */

import type { z } from 'zod'
import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { Instant } from '../../base/time/instant.ts'
import { CreatedReply } from '../../contract/envelope.ts'
import {
  type Authenticator,
  AuthenticatorListReply,
  AuthenticatorReply,
  ChangedAuthenticator,
  NewAuthenticator,
} from '../../contract/management/authenticators.ts'
import type * as domain from '../../domain/identities/authenticator.ts'
import { type AuthenticatorDetail, lockEnd } from '../../domain/identities/authenticator.ts'
import { AUTHENTICATOR_FIELDS } from '../../domain/lists/fields.ts'
import {
  createAuthenticator,
  removeAuthenticator,
  unlockAuthenticator,
} from '../../domain/management/manage-authenticators.ts'
import type { ManagementPorts } from '../../domain/management/ports.ts'
import { findAuthenticator, listAuthenticators } from '../../domain/management/read-identities.ts'
import {
  type AuthenticatorChange,
  updateAuthenticator,
} from '../../domain/management/update-authenticator.ts'
import { invalid } from '../../domain/refusals.ts'
import { CERT_AUTHENTICATOR, UPDB_AUTHENTICATOR } from '../../entities/authenticator.ts'
import { created, idIn, reference, selfLink, timeOrNull } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { isNull, patched, withFixed } from '../edge-api/changed-body.ts'
import { chosenFields, managedFields } from '../edge-api/described-body.ts'
import { Nothing } from '../edge-api/read-body.ts'
import type { Body } from '../reading/body.ts'
import { deferredBody, jsonBody } from '../reading/declared-body.ts'
import { addReads } from './entity-reads.ts'

const ALL = '/authenticators'
const ONE = `${ALL}/:id` as const

/** The names of `fixedFields`. */
export const FIXED = ['method', 'identityId'] as const

const RESET = 'The sessions that were begun with it end, and a lock is lifted.'

const CREDENTIAL_CODES = [
  'ENTITY_NAME_IN_USE',
  'CERT_IN_USE',
  'INVALID_CERT_PEM',
  'SERVER_TOO_BUSY',
] as const

export function addAuthenticators(api: Api, ports: ManagementPorts): void {
  api.add(
    {
      method: 'POST',
      path: ALL,
      access: 'admin',
      summary: 'Give an identity a password or a certificate',
      body: jsonBody(NewAuthenticator),
      answers: { 201: CreatedReply },
      codes: [...CREDENTIAL_CODES, 'MAX_AUTHENTICATOR_METHODS_REACHED'],
    },
    async ({ input: { identityId: owner, ...given }, caller }) => {
      const identityId = owner as IdentityId
      const authenticator =
        given.method === 'cert'
          ? { ...given, identityId }
          : { ...given, identityId, password: new Secret(given.password) }
      return created('authenticators', await createAuthenticator(ports, authenticator, caller))
    },
  )

  addReads(api, {
    path: ALL,
    summaries: { list: 'List authenticators', one: 'Read an authenticator' },
    fields: AUTHENTICATOR_FIELDS,
    replies: { one: AuthenticatorReply, list: AuthenticatorListReply },
    list: (query) => listAuthenticators(ports, query),
    find: (id: AuthenticatorId) => findAuthenticator(ports, id),
    show: (detail) => authenticatorBody(detail, ports.clock.now()),
  })

  api.act(
    {
      method: 'PUT',
      path: ONE,
      access: 'admin',
      summary: 'Replace a password or a certificate',
      description: RESET,
      body: deferredBody(NewAuthenticator, { mayOmit: FIXED }),
      codes: [...CREDENTIAL_CODES, 'LAST_ADMINISTRATOR'],
    },
    async ({ path, body, input, caller }) => {
      const replaced = (current: domain.Authenticator) =>
        changeOf(input(withFixed(fixedFields(current), body)))
      await updateAuthenticator(ports, idIn(path), replaced, caller)
    },
  )

  api.act(
    {
      method: 'PATCH',
      path: ONE,
      access: 'admin',
      summary: 'Change a password or a certificate',
      description: RESET,
      body: deferredBody(ChangedAuthenticator, { mayOmit: FIXED }),
      codes: [...CREDENTIAL_CODES, 'LAST_ADMINISTRATOR'],
    },
    async ({ path, body, input, caller }) => {
      const changed = (current: domain.Authenticator) =>
        changeOf(input(patchedCredential(current, withFixed(fixedFields(current), body))))
      await updateAuthenticator(ports, idIn(path), changed, caller)
    },
  )

  api.act(
    {
      method: 'DELETE',
      path: ONE,
      access: 'admin',
      summary: 'Delete an authenticator',
      description: 'Ends the sessions that began with it.',
      codes: ['LAST_ADMINISTRATOR'],
    },
    ({ path, caller }) => removeAuthenticator(ports, idIn(path), caller),
  )

  api.act(
    {
      method: 'POST',
      path: `${ONE}/unlock`,
      access: 'admin',
      summary: 'Unlock a password',
      description: 'Also deletes its failures.',
      body: jsonBody(Nothing),
    },
    ({ path, caller }) => unlockAuthenticator(ports, idIn(path), caller),
  )
}

function changeOf(given: z.output<typeof ChangedAuthenticator>): AuthenticatorChange {
  if (given.method === 'cert') return given
  return { ...given, password: secretOf(given.password) }
}

export function secretOf(text: string | undefined): Secret | undefined {
  return text === undefined ? undefined : new Secret(text)
}

/** The owner and the method cannot be changed. */
export function fixedFields({ method, identityId }: domain.Authenticator) {
  return { method, identityId }
}

/** The body of a PATCH, completed. Throws COULD_NOT_VALIDATE. */
export function patchedCredential(authenticator: domain.Authenticator, body: Body): Body {
  // The shape lets a PATCH omit the password, but null would clear it (API 1), and it is required.
  if (authenticator.method === 'updb' && isNull(body, 'password')) {
    throw invalid('password', 'is missing')
  }
  return patched(chosenCredential(authenticator), body)
}

/** Returns it as a body that would create it, except for the password. */
function chosenCredential(authenticator: domain.Authenticator) {
  return authenticator.method === 'updb'
    ? chosenFields(UPDB_AUTHENTICATOR, authenticator)
    : chosenFields(CERT_AUTHENTICATOR, authenticator)
}

export function authenticatorBody(
  { authenticator, identity }: AuthenticatorDetail,
  now: Instant,
): Authenticator {
  const computed = {
    identity: reference('identities', identity),
    _links: selfLink(`authenticators/${authenticator.id}`),
  }
  if (authenticator.method === 'cert') {
    return { ...managedFields(CERT_AUTHENTICATOR, authenticator), ...computed }
  }
  return {
    ...managedFields(UPDB_AUTHENTICATOR, authenticator),
    ...computed,
    lockedUntil: timeOrNull(lockEnd(authenticator, now)),
  }
}
