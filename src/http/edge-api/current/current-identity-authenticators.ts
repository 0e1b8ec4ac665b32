/**
 * /current-identity/authenticators, on both APIs: the caller's password and certificate. API 3.1, 4.2. Those of other
 * identities are 404.
 */
import type { z } from 'zod'
import type { Instant } from '../../../base/time/instant.ts'
import {
  type Authenticator,
  AuthenticatorListReply,
  AuthenticatorReply,
  ChangedOwn,
  ReplacedOwn,
} from '../../../contract/management/authenticators.ts'
import {
  findOwnAuthenticator,
  listOwnAuthenticators,
  type OwnChange,
  updateOwnAuthenticator,
} from '../../../domain/account/own-authenticators.ts'
import type { AccountPorts } from '../../../domain/account/ports.ts'
import type * as domain from '../../../domain/identities/authenticator.ts'
import type { AuthenticatorDetail } from '../../../domain/identities/authenticator.ts'
import { AUTHENTICATOR_FIELDS } from '../../../domain/lists/fields.ts'
import {
  authenticatorBody,
  FIXED,
  fixedFields,
  patchedCredential,
  secretOf,
} from '../../management-api/authenticators.ts'
import { deferredBody } from '../../reading/declared-body.ts'
import { found, idIn, listed, selfLink } from '../answers.ts'
import type { Api } from '../api.ts'
import { withDefaults, withFixed } from '../changed-body.ts'

const ALL = '/current-identity/authenticators'
const ONE = `${ALL}/:id` as const

/** What a change of the own password says about itself. */
const OWN_PASSWORD = {
  description:
    'Needs `currentPassword`. Your other sessions end. Only the spelling of the username can change; administrators change ' +
    'the name. A certificate is renewed by `extend` instead.',
  codes: ['RATE_LIMITED', 'SERVER_TOO_BUSY'],
} as const

export function addCurrentIdentityAuthenticators(api: Api, ports: AccountPorts): void {
  const { clock } = ports
  api.add(
    {
      method: 'GET',
      path: ALL,
      access: 'session',
      summary: 'List your own authenticators',
      list: AUTHENTICATOR_FIELDS,
      answers: { 200: AuthenticatorListReply },
    },
    async ({ list, session }) => {
      const now = clock.now()
      const details = await listOwnAuthenticators(ports, session, list)
      return listed(AUTHENTICATOR_FIELDS, list, details, (detail) => ownBody(detail, now))
    },
  )

  api.add(
    {
      method: 'GET',
      path: ONE,
      access: 'session',
      summary: 'Read an authenticator of your own',
      answers: { 200: AuthenticatorReply },
    },
    async ({ path, session }) =>
      found(ownBody(await findOwnAuthenticator(ports, session, idIn(path)), clock.now())),
  )

  api.act(
    {
      ...OWN_PASSWORD,
      method: 'PUT',
      path: ONE,
      access: 'session',
      summary: 'Replace your own password',
      body: deferredBody(ReplacedOwn, { mayOmit: [...FIXED, 'certPem', 'username'] }),
    },
    async ({ path, body, input, session, caller }) => {
      const replaced = (current: domain.Authenticator) =>
        changeOf(input(withFixed(stays(current), withDefaults(ownName(current), body))))
      await updateOwnAuthenticator(ports, session, idIn(path), replaced, caller)
    },
  )

  api.act(
    {
      ...OWN_PASSWORD,
      method: 'PATCH',
      path: ONE,
      access: 'session',
      summary: 'Change your own password',
      body: deferredBody(ChangedOwn, { mayOmit: FIXED }),
    },
    async ({ path, body, input, session, caller }) => {
      const changed = (current: domain.Authenticator) =>
        changeOf(input(patchedCredential(current, withFixed(stays(current), body))))
      await updateOwnAuthenticator(ports, session, idIn(path), changed, caller)
    },
  )
}

/** The owner and the method cannot be changed; and a certificate is renewed, not set. */
function stays(current: domain.Authenticator) {
  const fixed = fixedFields(current)
  return current.method === 'cert' ? { ...fixed, certPem: current.certPem } : fixed
}

/** D-121, D-217: administrators change the name, so a PUT may omit it. */
function ownName(current: domain.Authenticator) {
  return current.method === 'updb' ? { username: current.username } : {}
}

function changeOf(given: z.output<typeof ChangedOwn>): OwnChange {
  if (given.method === 'cert') return given
  const { password, currentPassword } = given
  return { ...given, password: secretOf(password), currentPassword: secretOf(currentPassword) }
}

function ownBody(detail: AuthenticatorDetail, now: Instant): Authenticator {
  const body = authenticatorBody(detail, now)
  return { ...body, _links: selfLink(`${ALL.slice(1)}/${body.id}`) }
}
