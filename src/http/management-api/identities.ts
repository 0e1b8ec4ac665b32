/** /identities of the management API: API 3.3, 4.1. */

import type { z } from 'zod'
import type { AuthPolicyId, IdentityId } from '../../base/ids.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Instant } from '../../base/time/instant.ts'
import {
  ChosenIdentity,
  Disablement,
  type Identity,
  NewIdentity,
} from '../../contract/management/identities.ts'
import type { ManageEnrollments } from '../../domain/enrollments/manage.ts'
import type { Authenticator } from '../../domain/identities/authenticator.ts'
import type * as domain from '../../domain/identities/identity.ts'
import { isDisabled } from '../../domain/identities/identity.ts'
import type { ManageIdentities } from '../../domain/identities/manage.ts'
import type { IdentityDetail, ReadIdentities } from '../../domain/identities/manage-read.ts'
import type { UpdateIdentity } from '../../domain/identities/update-identity.ts'
import { AUTHENTICATOR_FIELDS, IDENTITY_FIELDS } from '../../domain/lists/fields.ts'
import { created, done, entity, found, idIn, listed, timeOrNull } from '../edge-api/answers.ts'
import { patched } from '../edge-api/changed-body.ts'
import { reference } from '../edge-api/links.ts'
import { Nothing, readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { authenticatorBody } from './authenticators.ts'
import { invited, kindOfNew, openEnrollments } from './enrollments.ts'
import { ACT, CHANGE, CREATE, READ, REMOVE, REPLACE } from './route-defaults.ts'

export function addIdentities(
  router: Router,
  prefix: string,
  use: {
    readonly manage: ManageIdentities
    readonly update: UpdateIdentity
    readonly enrollments: Pick<ManageEnrollments, 'createWithIdentity'>
    readonly read: ReadIdentities
    readonly clock: Pick<Clock, 'now'>
  },
): void {
  const { manage, read, clock } = use
  const all = `${prefix}/identities`
  const one = `${all}/:id`

  router.add({ ...CREATE, url: all }, async ({ body, caller }) => {
    const { enrollment, ...chosen } = readBody(NewIdentity, body)
    const identity = chosenOf(chosen)
    if (enrollment === undefined) {
      return created('identities', await manage.create(identity, caller))
    }
    const kind = kindOfNew(enrollment)
    return invited(await use.enrollments.createWithIdentity(identity, kind, caller))
  })

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, IDENTITY_FIELDS)
    const now = clock.now()
    const details = await read.list(asked)
    return listed(IDENTITY_FIELDS, asked, details, (detail) => identityBody(detail, now))
  })

  router.add({ ...READ, url: one }, async ({ path }) =>
    found(identityBody(await read.find(idIn(path)), clock.now())),
  )

  router.add({ ...REPLACE, url: one }, async ({ path, body, caller }) => {
    const chosen = () => chosenOf(readBody(ChosenIdentity, body))
    await use.update(idIn<IdentityId>(path), chosen, caller)
    return done()
  })

  router.add({ ...CHANGE, url: one }, async ({ path, body, caller }) => {
    const changed = (current: domain.Identity) =>
      chosenOf(readBody(ChosenIdentity, patched(chosenFields(current), body)))
    await use.update(idIn<IdentityId>(path), changed, caller)
    return done()
  })

  router.add({ ...REMOVE, url: one }, async ({ path, caller }) => {
    await manage.remove(idIn<IdentityId>(path), caller)
    return done()
  })

  router.add({ ...ACT, url: `${one}/disable` }, async ({ path, body, caller }) => {
    const { durationMinutes } = readBody(Disablement, body)
    await manage.disable(idIn<IdentityId>(path), durationMinutes, caller)
    return done()
  })

  router.add({ ...ACT, url: `${one}/enable` }, async ({ path, body, caller }) => {
    readBody(Nothing, body)
    await manage.enable(idIn<IdentityId>(path), caller)
    return done()
  })

  router.add({ ...REMOVE, url: `${one}/mfa` }, async ({ path, caller }) => {
    await manage.removeMfa(idIn<IdentityId>(path), caller)
    return done()
  })

  router.add({ ...READ, url: `${one}/authenticators` }, async ({ path, query }) => {
    const asked = readList(query, AUTHENTICATOR_FIELDS)
    const now = clock.now()
    const own = await read.authenticatorsOf(idIn(path), asked)
    return listed(AUTHENTICATOR_FIELDS, asked, own, (detail) => authenticatorBody(detail, now))
  })
}

function chosenOf({ externalId, authPolicyId, ...rest }: z.output<typeof ChosenIdentity>) {
  return {
    ...rest,
    externalId: externalId ?? undefined,
    authPolicyId: authPolicyId as AuthPolicyId | undefined,
  }
}

/** As a body that would make it. */
function chosenFields(identity: domain.Identity): z.input<typeof ChosenIdentity> {
  return {
    name: identity.name,
    type: identity.type,
    isAdmin: identity.isAdmin,
    externalId: identity.externalId,
    authPolicyId: identity.authPolicyId,
    roleAttributes: [...identity.roleAttributes],
    appData: identity.appData,
    tags: identity.tags,
  }
}

function identityBody(detail: IdentityDetail, now: Instant): Identity {
  const { identity, policy, authenticators, isMfaEnabled, hasApiSession } = detail
  return {
    ...entity('identities', identity),
    name: identity.name,
    type: identity.type,
    isAdmin: identity.isAdmin,
    externalId: identity.externalId ?? null,
    authPolicyId: policy.id,
    authPolicy: reference('auth-policies', policy),
    roleAttributes: [...identity.roleAttributes],
    appData: identity.appData,
    envInfo: identity.envInfo ?? null,
    sdkInfo: identity.sdkInfo ?? null,
    disabled: isDisabled(identity, now),
    disabledAt: timeOrNull(identity.disabledAt),
    disabledUntil: timeOrNull(identity.disabledUntil),
    lastLoginAt: timeOrNull(identity.lastLoginAt),
    isMfaEnabled,
    hasApiSession,
    authenticators: Object.assign({}, ...authenticators.map(summary)),
    enrollment: openEnrollments(detail.enrollments, now),
  }
}

function summary(authenticator: Authenticator): Identity['authenticators'] {
  const { id } = authenticator
  return authenticator.method === 'updb'
    ? { updb: { id, username: authenticator.username } }
    : { cert: { id, fingerprint: authenticator.fingerprint } }
}
