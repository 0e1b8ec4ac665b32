/** /console/identities/:id: one identity, and what can be done about it. Each change is the management API's use case. */

import { readCertificate, validity } from '../../../base/certificates.ts'
import type { AuthenticatorId, EnrollmentId, IdentityId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { NewEnrollment } from '../../../contract/management/enrollments.ts'
import { Disablement } from '../../../contract/management/identities.ts'
import { type Enrollment, isOpen, isReset } from '../../../domain/enrollments/enrollment.ts'
import type { Invitation } from '../../../domain/enrollments/invite.ts'
import { type Authenticator, lockEnd } from '../../../domain/identities/authenticator.ts'
import {
  type DescribedIdentity,
  describeIdentity,
} from '../../../domain/management/finding/describe-identity.ts'
import { unlockAuthenticator } from '../../../domain/management/manage-authenticators.ts'
import {
  createEnrollment,
  reEnroll,
  refreshEnrollment,
} from '../../../domain/management/manage-enrollments.ts'
import {
  deleteIdentity,
  disableIdentity,
  enableIdentity,
  removeMfa,
} from '../../../domain/management/manage-identities.ts'
import { endSessionsOf } from '../../../domain/management/manage-sessions.ts'
import { findIdentity } from '../../../domain/management/read-identities.ts'
import { invalid } from '../../../domain/refusals.ts'
import {
  identityPage,
  type ShownCredential,
  type ShownInvitation,
} from '../../../web/console/identities/identity-page.ts'
import { IDENTITIES_PATH, identityPath } from '../../../web/console/navigation.ts'
import type { ConsoleNote } from '../../../web/console/notes.ts'
import type { Answer } from '../../answer.ts'
import { readBody } from '../../edge-api/read-body.ts'
import { kindOf } from '../../management-api/enrollments.ts'
import { fieldOf } from '../../own-site/form-checks.ts'
import type { Fields } from '../../reading/fields.ts'
import { backTo, type ConsoleCall, type ConsoleForm, type ConsoleRoutes } from '../console-route.ts'
import { shownEvent } from '../events/shown-event.ts'
import type { ConsolePorts } from '../ports.ts'
import { shownSession } from '../sessions/shown-session.ts'
import { invitationAnswer } from './invitation-answer.ts'
import { shownIdentity } from './shown-identity.ts'

const ONE = `${IDENTITIES_PATH}/:id`

export function addIdentityScreen(routes: ConsoleRoutes, ports: ConsolePorts): void {
  routes.show(ONE, async (call) => {
    const described = await describeIdentity(ports, idOf(call))
    const passkeys = (await ports.passkeys.listOf(idOf(call))).map(({ name }) => name)
    return identityPage(call.frame, {
      ...pageOf(call, described, ports.clock.now()),
      passkeys,
    })
  })

  const change = (
    what: string,
    note: ConsoleNote,
    apply: (call: ConsoleCall, fields: Fields) => Promise<void>,
  ) =>
    routes.act(formAt(what), async (call, fields) => {
      await apply(call, fields)
      return backTo(what === 'delete' ? IDENTITIES_PATH : identityPath(idOf(call)), note)
    })

  change('disable', 'identity-disabled', (call, fields) =>
    disableIdentity(ports, idOf(call), minutesOf(fields), call.caller),
  )
  change('enable', 'identity-enabled', (call) => enableIdentity(ports, idOf(call), call.caller))
  change('delete', 'identity-deleted', (call) => deleteIdentity(ports, idOf(call), call.caller))
  change('sign-out', 'identity-signed-out', (call) => endSessionsOf(ports, idOf(call), call.caller))
  change('reset-second-factor', 'second-factor-reset', (call) =>
    removeMfa(ports, idOf(call), call.caller),
  )
  change('unlock', 'password-unlocked', async (call, fields) => {
    await unlockAuthenticator(ports, await credentialOf(call, fields), call.caller)
  })

  const invite = (
    what: string,
    apply: (call: ConsoleCall, fields: Fields) => Promise<Invitation>,
  ) =>
    routes.act(formAt(what), async (call, fields): Promise<Answer> => {
      const { identity } = await findIdentity(ports, idOf(call))
      return invitationAnswer(call, identity, await apply(call, fields))
    })

  invite('invite', (call, fields) => {
    const method = fieldOf(fields, 'method')
    const username = method === 'updb' ? { username: fieldOf(fields, 'username').trim() } : {}
    const value = { method, identityId: idOf(call), ...username }
    // As the body of POST /enrollments.
    const { identityId: _, ...given } = readBody(NewEnrollment, { kind: 'json', value })
    const wanted = { ...kindOf(given), identityId: idOf(call), tags: {}, expiresAt: undefined }
    return createEnrollment(ports, wanted, call.caller)
  })
  invite('renew-invitation', async (call, fields) => {
    const id = fieldOf(fields, 'invitation') as EnrollmentId
    const { enrollments } = await findIdentity(ports, idOf(call))
    if (!enrollments.some((one) => one.id === id))
      throw invalid('invitation', 'is not of this identity')
    return refreshEnrollment(ports, id, undefined, call.caller)
  })
  invite('re-invite', async (call, fields) =>
    reEnroll(ports, await credentialOf(call, fields), undefined, call.caller),
  )

  /** Only a credential of the identity that the form is about. */
  async function credentialOf(call: ConsoleCall, fields: Fields): Promise<AuthenticatorId> {
    const id = fieldOf(fields, 'credential') as AuthenticatorId
    const { authenticators } = await findIdentity(ports, idOf(call))
    if (authenticators.some((one) => one.id === id)) return id
    throw invalid('credential', 'is not of this identity')
  }
}

const formAt = (what: string): ConsoleForm => ({ url: `${ONE}/${what}`, page: ONE })

const idOf = ({ head }: ConsoleCall) => (head.path['id'] ?? '') as IdentityId

/** As the body of POST /identities/{id}/disable. */
function minutesOf(fields: Fields): number {
  const value = { durationMinutes: Number(fieldOf(fields, 'minutes')) }
  return readBody(Disablement, { kind: 'json', value }).durationMinutes
}

function pageOf(call: ConsoleCall, described: DescribedIdentity, now: Instant) {
  const { identity, authenticators, enrollments, sessions, sessionCertificates, events } = described
  const { externalId, roleAttributes, hosts, tags, createdAt, updatedAt, disabledUntil } = identity
  return {
    ...shownIdentity(described, now),
    externalId,
    roles: roleAttributes,
    hosts,
    tags: Object.entries(tags).map(([name, value]) => [name, String(value)] as const),
    createdAt,
    updatedAt,
    disabledUntil,
    credentials: authenticators.map((one) => shownCredential(one, now)),
    invitations: enrollments.map((one) => shownInvitation(one, now)),
    sessions: sessions.rows.map((one) => shownSession(one, call.session)),
    sessionsTotal: sessions.totalCount,
    sessionCertificates,
    events: events.rows.map(shownEvent),
    eventsTotal: events.totalCount,
  }
}

function shownCredential(authenticator: Authenticator, now: Instant): ShownCredential {
  const { id, lastUsedAt } = authenticator
  if (authenticator.method === 'updb') {
    const { username } = authenticator
    const lockedUntil = lockEnd(authenticator, now)
    return { id, kind: 'password', username, lockedUntil, lastUsedAt }
  }
  const { fingerprint, certPem, isIssuedByNetwork } = authenticator
  const certificate = readCertificate(certPem)
  const notAfter = certificate && validity(certificate).notAfter
  const isExpired = notAfter !== undefined && notAfter < now
  return {
    id,
    kind: 'certificate',
    fingerprint,
    notAfter,
    isExpired,
    isIssuedByNetwork,
    lastUsedAt,
  }
}

function shownInvitation(enrollment: Enrollment, now: Instant): ShownInvitation {
  const { id, expiresAt } = enrollment
  return {
    id,
    what: purposeOf(enrollment),
    expiresAt,
    isOpen: isOpen(enrollment, now),
    isReset: isReset(enrollment),
  }
}

function purposeOf(enrollment: Enrollment): string {
  switch (enrollment.method) {
    case 'updb':
      return `For a password of ${enrollment.username}`
    case 'reset-password':
      return 'For a new password'
    case 'reset-mfa':
      return 'For a new second factor'
    default:
      return 'For a certificate'
  }
}
