/**
 * /enrollments of the management API, and the enrollments of other entities: API 3.3, 4.3. Token and JWT are returned
 * only once, in the response that creates them.
 */
import type { CaId, IdentityId } from '../../base/ids.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import { fromRfc3339, type Instant, toRfc3339 } from '../../base/time/instant.ts'
import * as contract from '../../contract/management/enrollments.ts'
import {
  type Enrollment,
  type EnrollmentKind,
  isOpen,
  isReset,
  keptJwt,
  type ResetKind,
} from '../../domain/enrollments/enrollment.ts'
import type { Invitation } from '../../domain/enrollments/invite.ts'
import { ENROLLMENT_FIELDS } from '../../domain/lists/fields.ts'
import {
  createEnrollment,
  deleteEnrollment,
  reEnroll,
  refreshEnrollment,
} from '../../domain/management/manage-enrollments.ts'
import type { ManagementPorts } from '../../domain/management/ports.ts'
import {
  type EnrollmentDetail,
  findEnrollment,
  listEnrollments,
  listEnrollmentsOf,
} from '../../domain/management/read-enrollments.ts'
import { ENROLLMENT_OF_ANY_METHOD } from '../../entities/enrollment.ts'
import { found, idIn, listed, made, reference, selfLink } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { managedFields } from '../edge-api/described-body.ts'
import { jsonBody } from '../reading/declared-body.ts'

const ALL = '/enrollments'
const ONE = `${ALL}/:id` as const

export function addEnrollments(api: Api, ports: ManagementPorts): void {
  api.add(
    {
      method: 'POST',
      path: ALL,
      access: 'admin',
      summary: 'Invite an identity to enroll',
      description:
        'Only this response has the token, the JWT and the link. `reset-password` and `reset-mfa` create a link for an ' +
        'identity that has a password or TOTP already; nothing changes until it is used, and it replaces an older one.',
      body: jsonBody(contract.NewEnrollment),
      answers: { 201: contract.InvitationReply },
      codes: [
        'ENROLLMENT_EXISTS',
        'MAX_AUTHENTICATOR_METHODS_REACHED',
        'ENTITY_NAME_IN_USE',
        'MFA_NOT_ENROLLED',
      ],
    },
    async ({ input: { tags, ...given }, caller }) => {
      const wanted = {
        ...kindOf(given),
        identityId: given.identityId as IdentityId,
        expiresAt: endOf(given),
        tags,
      }
      return made(invitationBody(await createEnrollment(ports, wanted, caller)))
    },
  )

  api.add(
    {
      method: 'GET',
      path: ALL,
      access: 'admin',
      summary: 'List enrollments, including used ones',
      list: ENROLLMENT_FIELDS,
      answers: { 200: contract.EnrollmentListReply },
    },
    async ({ list }) =>
      listed(ENROLLMENT_FIELDS, list, await listEnrollments(ports, list), enrollmentBody),
  )

  api.add(
    {
      method: 'GET',
      path: ONE,
      access: 'admin',
      summary: 'Read an enrollment',
      answers: { 200: contract.EnrollmentReply },
    },
    async ({ path }) => {
      const detail = await findEnrollment(ports, idIn(path))
      const kept = keptBody(detail.enrollment, ports.clock.now(), ports.vault)
      return found({ ...enrollmentBody(detail), ...kept })
    },
  )

  api.act(
    {
      method: 'DELETE',
      path: ONE,
      access: 'admin',
      summary: 'Withdraw an enrollment',
      description: 'Its token stops working.',
    },
    ({ path, caller }) => deleteEnrollment(ports, idIn(path), caller),
  )

  api.add(
    {
      method: 'POST',
      path: `${ONE}/refresh`,
      access: 'admin',
      summary: 'Issue a new token with a new expiry',
      description: 'The old token stops working.',
      body: jsonBody(contract.EnrollmentEnd),
      answers: { 200: contract.InvitationReply },
      codes: ['ENROLLMENT_USED'],
    },
    async ({ path, input, caller }) => {
      const invitation = await refreshEnrollment(ports, idIn(path), endOf(input), caller)
      return found(invitationBody(invitation))
    },
  )

  api.add(
    {
      method: 'GET',
      path: '/identities/:id/enrollments',
      access: 'admin',
      summary: 'List the enrollments of an identity',
      list: ENROLLMENT_FIELDS,
      answers: { 200: contract.EnrollmentListReply },
    },
    async ({ path, list }) => {
      const own = await listEnrollmentsOf(ports, idIn(path), list)
      return listed(ENROLLMENT_FIELDS, list, own, enrollmentBody)
    },
  )

  api.add(
    {
      method: 'POST',
      path: '/authenticators/:id/re-enroll',
      access: 'admin',
      summary: 'Replace an authenticator with an enrollment',
      description: 'The sessions that began with it end.',
      body: jsonBody(contract.EnrollmentEnd),
      answers: { 201: contract.InvitationReply },
      codes: ['ENROLLMENT_EXISTS', 'LAST_ADMINISTRATOR'],
    },
    async ({ path, input, caller }) => {
      const invitation = await reEnroll(ports, idIn(path), endOf(input), caller)
      return made(invitationBody(invitation))
    },
  )
}

function endOf({ expiresAt }: { readonly expiresAt?: string | undefined }): Instant | undefined {
  return expiresAt === undefined ? undefined : fromRfc3339(expiresAt)
}

export function kindOf(
  given:
    | { readonly method: 'ott' }
    | { readonly method: 'updb'; readonly username: string }
    | { readonly method: 'ottca'; readonly caId: string }
    | ResetKind,
): EnrollmentKind {
  switch (given.method) {
    case 'ott':
    case 'reset-password':
    case 'reset-mfa':
      return { method: given.method }
    case 'updb':
      return { method: 'updb', username: given.username }
    case 'ottca':
      return { method: 'ottca', caId: given.caId as CaId }
  }
}

/** The enrollment in a POST /identities; the contract has already checked that there is exactly one. */
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
export function invited(invitation: Invitation) {
  const { identityId: id } = invitation.enrollment
  const enrollment = invitationBody(invitation)
  return made({ id, _links: selfLink(`identities/${id}`), enrollment })
}

function invitationBody({ enrollment, token, jwt, link }: Invitation): contract.Invitation {
  const { id, expiresAt } = enrollment
  return {
    id,
    _links: selfLink(`enrollments/${id}`),
    token: token.reveal(),
    jwt: jwt?.reveal() ?? null,
    link: link?.reveal() ?? null,
    expiresAt: toRfc3339(expiresAt),
  }
}

function enrollmentBody({ enrollment, identity }: EnrollmentDetail): contract.Enrollment {
  return {
    ...managedFields(ENROLLMENT_OF_ANY_METHOD, enrollment),
    identity: reference('identities', identity),
    _links: selfLink(`enrollments/${enrollment.id}`),
    ...kindOf(enrollment),
  }
}

/** The first enrollments shown with an identity: only the open ones (D-375: resets are in their list). With a vault, also the JWT that they keep (D-317). */
export function openEnrollments(
  own: readonly Enrollment[],
  now: Instant,
  vault?: Pick<Vault, 'open'>,
): contract.OpenEnrollments {
  const open = own.filter((enrollment) => isOpen(enrollment, now) && !isReset(enrollment))
  const entries = open.map((enrollment) => {
    const { id, method, expiresAt } = enrollment
    const kept = keptBody(enrollment, now, vault)
    const shown = { id, expiresAt: toRfc3339(expiresAt), ...kindOf(enrollment), ...kept }
    return [method, shown] as const
  })
  return Object.fromEntries(entries)
}

/** D-317: the JWT of an enrollment that is still open, for the details. */
function keptBody(
  enrollment: Enrollment,
  now: Instant,
  vault: Pick<Vault, 'open'> | undefined,
): { jwt?: string } {
  const isKept = vault !== undefined && isOpen(enrollment, now)
  const jwt = isKept ? keptJwt(vault, enrollment)?.reveal() : undefined
  return jwt === undefined ? {} : { jwt }
}
