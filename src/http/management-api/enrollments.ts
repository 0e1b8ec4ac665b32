/**
 * /enrollments of the management API, and what other entities do with them: API 3.3, 4.3. Token and JWT are shown once,
 * in the answer that makes them.
 */
import type { AuthenticatorId, CaId, EnrollmentId, IdentityId } from '../../base/ids.ts'
import { fromRfc3339, type Instant, toRfc3339 } from '../../base/time/instant.ts'
import * as contract from '../../contract/management/enrollments.ts'
import {
  type Enrollment,
  type EnrollmentKind,
  isOpen,
} from '../../domain/enrollments/enrollment.ts'
import type { Invitation } from '../../domain/enrollments/invite.ts'
import type { ManageEnrollments } from '../../domain/enrollments/manage.ts'
import type { EnrollmentDetail, ReadEnrollments } from '../../domain/enrollments/read.ts'
import { ENROLLMENT_FIELDS } from '../../domain/lists/fields.ts'
import { type Answer, json } from '../answer.ts'
import { done, entity, found, idIn, listed, timeOrNull } from '../edge-api/answers.ts'
import { reference, selfLink } from '../edge-api/links.ts'
import { readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { ACT, CREATE, READ, REMOVE } from './route-defaults.ts'

export function addEnrollments(
  router: Router,
  prefix: string,
  use: { readonly manage: ManageEnrollments; readonly read: ReadEnrollments },
): void {
  const { manage, read } = use
  const all = `${prefix}/enrollments`
  const one = `${all}/:id`

  router.add({ ...CREATE, url: all }, async ({ body, caller }) => {
    const { tags, ...given } = readBody(contract.NewEnrollment, body)
    const wanted = {
      ...kindOf(given),
      identityId: given.identityId as IdentityId,
      expiresAt: endOf(given),
      tags,
    }
    return json(201, { data: invitationBody(await manage.create(wanted, caller)), meta: {} })
  })

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, ENROLLMENT_FIELDS)
    return listed(ENROLLMENT_FIELDS, asked, await read.list(asked), enrollmentBody)
  })

  router.add({ ...READ, url: one }, async ({ path }) =>
    found(enrollmentBody(await read.find(idIn(path)))),
  )

  router.add({ ...REMOVE, url: one }, async ({ path, caller }) => {
    await manage.remove(idIn<EnrollmentId>(path), caller)
    return done()
  })

  router.add({ ...ACT, url: `${one}/refresh` }, async ({ path, body, caller }) => {
    const expiresAt = endOf(readBody(contract.EnrollmentEnd, body))
    const invitation = await manage.refresh(idIn<EnrollmentId>(path), expiresAt, caller)
    return found(invitationBody(invitation))
  })

  router.add({ ...READ, url: `${prefix}/identities/:id/enrollments` }, async ({ path, query }) => {
    const asked = readList(query, ENROLLMENT_FIELDS)
    const own = await read.listOf(idIn(path), asked)
    return listed(ENROLLMENT_FIELDS, asked, own, enrollmentBody)
  })

  router.add(
    { ...CREATE, url: `${prefix}/authenticators/:id/re-enroll` },
    async ({ path, body, caller }) => {
      const expiresAt = endOf(readBody(contract.EnrollmentEnd, body))
      const invitation = await manage.reEnroll(idIn<AuthenticatorId>(path), expiresAt, caller)
      return json(201, { data: invitationBody(invitation), meta: {} })
    },
  )
}

function endOf({ expiresAt }: { readonly expiresAt?: string | undefined }): Instant | undefined {
  return expiresAt === undefined ? undefined : fromRfc3339(expiresAt)
}

function kindOf(
  given:
    | { readonly method: 'ott' }
    | { readonly method: 'updb'; readonly username: string }
    | { readonly method: 'ottca'; readonly caId: string },
): EnrollmentKind {
  switch (given.method) {
    case 'ott':
      return { method: 'ott' }
    case 'updb':
      return { method: 'updb', username: given.username }
    case 'ottca':
      return { method: 'ottca', caId: given.caId as CaId }
  }
}

/** What POST /identities carries, of which the contract has seen exactly one. */
export function kindOfNew(given: {
  readonly ott?: true | undefined
  readonly updb?: string | undefined
  readonly ottca?: string | undefined
}): EnrollmentKind {
  const { updb, ottca } = given
  if (updb !== undefined) return { method: 'updb', username: updb }
  return ottca === undefined ? { method: 'ott' } : { method: 'ottca', caId: ottca as CaId }
}

/** POST /identities with an enrollment. */
export function invited(invitation: Invitation): Answer {
  const { identityId: id } = invitation.enrollment
  const enrollment = invitationBody(invitation)
  return json(201, { data: { id, _links: selfLink(`identities/${id}`), enrollment }, meta: {} })
}

function invitationBody({ enrollment, token, jwt }: Invitation): contract.Invitation {
  const { id, expiresAt } = enrollment
  return {
    id,
    _links: selfLink(`enrollments/${id}`),
    token: token.reveal(),
    jwt: jwt?.reveal() ?? null,
    expiresAt: toRfc3339(expiresAt),
  }
}

function enrollmentBody({ enrollment, identity }: EnrollmentDetail): contract.Enrollment {
  return {
    ...entity('enrollments', enrollment),
    identityId: identity.id,
    identity: reference('identities', identity),
    expiresAt: toRfc3339(enrollment.expiresAt),
    usedAt: timeOrNull(enrollment.usedAt),
    ...kindOf(enrollment),
  }
}

/** What an identity shows of its own: the open ones, never a token. */
export function openEnrollments(
  own: readonly Enrollment[],
  now: Instant,
): contract.OpenEnrollments {
  const open = own.filter((enrollment) => isOpen(enrollment, now))
  const entries = open.map((enrollment) => {
    const { id, method, expiresAt } = enrollment
    return [method, { id, expiresAt: toRfc3339(expiresAt), ...kindOf(enrollment) }] as const
  })
  return Object.fromEntries(entries)
}
