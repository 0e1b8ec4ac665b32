/** /authenticators of the management API: API 3.3, 4.2. The hash of a password never leaves. */

import type { z } from 'zod'
import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Instant } from '../../base/time/instant.ts'
import {
  type Authenticator,
  ChangedAuthenticator,
  NewAuthenticator,
} from '../../contract/management/authenticators.ts'
import type * as domain from '../../domain/identities/authenticator.ts'
import type { ManageAuthenticators } from '../../domain/identities/manage-authenticators.ts'
import type { AuthenticatorDetail, ReadIdentities } from '../../domain/identities/manage-read.ts'
import type {
  AuthenticatorChange,
  UpdateAuthenticator,
} from '../../domain/identities/update-authenticator.ts'
import { AUTHENTICATOR_FIELDS } from '../../domain/lists/fields.ts'
import { created, done, entity, found, idIn, listed, timeOrNull } from '../edge-api/answers.ts'
import { patched, withFixed } from '../edge-api/changed-body.ts'
import { reference } from '../edge-api/links.ts'
import { Nothing, readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { ACT, CHANGE, CREATE, READ, REMOVE, REPLACE } from './route-defaults.ts'

export function addAuthenticators(
  router: Router,
  prefix: string,
  use: {
    readonly manage: ManageAuthenticators
    readonly update: UpdateAuthenticator
    readonly read: ReadIdentities
    readonly clock: Pick<Clock, 'now'>
  },
): void {
  const { manage, update, read, clock } = use
  const all = `${prefix}/authenticators`
  const one = `${all}/:id`

  router.add({ ...CREATE, url: all }, async ({ body, caller }) => {
    const { identityId: owner, ...given } = readBody(NewAuthenticator, body)
    const identityId = owner as IdentityId
    const authenticator =
      given.method === 'cert'
        ? { ...given, identityId }
        : { ...given, identityId, password: new Secret(given.password) }
    return created('authenticators', await manage.create(authenticator, caller))
  })

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, AUTHENTICATOR_FIELDS)
    const now = clock.now()
    const details = await read.listAuthenticators(asked)
    return listed(AUTHENTICATOR_FIELDS, asked, details, (detail) => authenticatorBody(detail, now))
  })

  router.add({ ...READ, url: one }, async ({ path }) =>
    found(authenticatorBody(await read.findAuthenticator(idIn(path)), clock.now())),
  )

  router.add({ ...REPLACE, url: one }, async ({ path, body, caller }) => {
    const replaced = (current: domain.Authenticator) =>
      changeOf(readBody(NewAuthenticator, withFixed(fixedFields(current), body)))
    await update(idIn<AuthenticatorId>(path), replaced, caller)
    return done()
  })

  router.add({ ...CHANGE, url: one }, async ({ path, body, caller }) => {
    const changed = (current: domain.Authenticator) => {
      const fixed = withFixed(fixedFields(current), body)
      return changeOf(readBody(ChangedAuthenticator, patched(chosenFields(current), fixed)))
    }
    await update(idIn<AuthenticatorId>(path), changed, caller)
    return done()
  })

  router.add({ ...REMOVE, url: one }, async ({ path, caller }) => {
    await manage.remove(idIn<AuthenticatorId>(path), caller)
    return done()
  })

  router.add({ ...ACT, url: `${one}/unlock` }, async ({ path, body, caller }) => {
    readBody(Nothing, body)
    await manage.unlock(idIn<AuthenticatorId>(path), caller)
    return done()
  })
}

function changeOf(given: z.output<typeof ChangedAuthenticator>): AuthenticatorChange {
  if (given.method === 'cert') return given
  return { ...given, password: secretOf(given.password) }
}

export function secretOf(text: string | undefined): Secret | undefined {
  return text === undefined ? undefined : new Secret(text)
}

/** Whose it is and what it is: that stays. */
export function fixedFields({ method, identityId }: domain.Authenticator) {
  return { method, identityId }
}

/** As far as a body that would make it can be written: without the password. */
export function chosenFields(authenticator: domain.Authenticator) {
  const { tags } = authenticator
  const credential =
    authenticator.method === 'updb'
      ? { username: authenticator.username }
      : { certPem: authenticator.certPem }
  return { ...credential, tags }
}

export function authenticatorBody(
  { authenticator, identity }: AuthenticatorDetail,
  now: Instant,
): Authenticator {
  const common = {
    ...entity('authenticators', authenticator),
    identityId: identity.id,
    identity: reference('identities', identity),
    lastUsedAt: timeOrNull(authenticator.lastUsedAt),
  }
  if (authenticator.method === 'cert') {
    const { certPem, fingerprint, isIssuedByNetwork } = authenticator
    return { ...common, method: 'cert', certPem, fingerprint, isIssuedByNetwork }
  }
  const { username, lockedUntil } = authenticator
  const isLocked = lockedUntil !== undefined && lockedUntil > now
  return {
    ...common,
    method: 'updb',
    username,
    lockedUntil: timeOrNull(isLocked ? lockedUntil : undefined),
  }
}
