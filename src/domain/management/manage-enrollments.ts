/**
 * Lets an administrator manage enrollments. API 3.3, 4.3; D-125. Each change is one transaction with its audit event;
 * signing happens before it.
 */

import { isSignedBy, readCertificates } from '../../base/certificates.ts'
import {
  type AuthenticatorId,
  type CaId,
  type EnrollmentId,
  type IdentityId,
  newId,
} from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import type { EnrollmentKind } from '../enrollments/enrollment.ts'
import {
  type Invitation,
  insertEnrollmentWithin,
  prepareAgain,
  prepareInvitation,
  type WantedEnrollment,
} from '../enrollments/invite.ts'
import { announceLink } from '../enrollments/links/announce.ts'
import type { Authenticator } from '../identities/authenticator.ts'
import { invalid, notFound, orNotFound } from '../refusals.ts'
import { removeAuthenticator } from './manage-authenticators.ts'
import { createIdentity, type NewIdentity } from './manage-identities.ts'
import type { ManagementPorts } from './ports.ts'

/** Throws what `prepareInvitation` and `insertEnrollmentWithin` throw, as do the functions below. */
export async function createEnrollment(
  ports: ManagementPorts,
  wanted: WantedEnrollment,
  caller: Caller,
): Promise<Invitation> {
  const invitation = await prepareInvitation(ports, wanted)
  await ports.transaction((tx) => insertEnrollmentWithin(ports, tx, invitation.enrollment, caller))
  await announceLink(ports, invitation, caller)
  return invitation
}

/** Creates the identity and its enrollment, or neither. */
export async function createEnrollmentWithIdentity(
  ports: ManagementPorts,
  identity: NewIdentity,
  kind: EnrollmentKind,
  caller: Caller,
): Promise<Invitation> {
  const id = newId<IdentityId>(ports.random)
  const wanted = { ...kind, identityId: id, tags: {}, expiresAt: undefined }
  const invitation = await prepareInvitation(ports, wanted)
  await createIdentity(ports, identity, caller, {
    id,
    within: (tx) => insertEnrollmentWithin(ports, tx, invitation.enrollment, caller),
  })
  await announceLink(ports, invitation, caller)
  return invitation
}

/** Replaces token and expiry; the old token becomes invalid. Throws NOT_FOUND, ENROLLMENT_USED. */
export async function refreshEnrollment(
  ports: ManagementPorts,
  id: EnrollmentId,
  expiresAt: Instant | undefined,
  caller: Caller,
): Promise<Invitation> {
  const found = orNotFound(await ports.enrollments.find(id))
  if (found.usedAt !== undefined) throw new Failure('ENROLLMENT_USED')
  const invitation = await prepareAgain(ports, found, expiresAt)
  const { enrollment } = invitation
  await ports.transaction(async (tx) => {
    const isReplaced = await tx.enrollments.replaceToken(id, enrollment, ports.clock.now())
    // It was used or deleted in the meantime.
    if (!isReplaced) {
      throw (await tx.enrollments.find(id)) ? new Failure('ENROLLMENT_USED') : notFound()
    }
    const { identityId } = enrollment
    await record(ports, tx, caller, { type: 'enrollment.refreshed', identityId, details: { id } })
  })
  await announceLink(ports, invitation, caller)
  return invitation
}

/** Throws NOT_FOUND. */
export function deleteEnrollment(
  ports: ManagementPorts,
  id: EnrollmentId,
  caller: Caller,
): Promise<void> {
  return ports.transaction(async (tx) => {
    const found = await tx.enrollments.find(id)
    if (found === undefined || !(await tx.enrollments.remove(id))) throw notFound()
    const { identityId } = found
    await record(ports, tx, caller, { type: 'enrollment.deleted', identityId, details: { id } })
  })
}

/**
 * Replaces an authenticator by an enrollment. The authenticator is removed as by `removeAuthenticator`: its sessions
 * end. Throws NOT_FOUND, LAST_ADMINISTRATOR.
 */
export async function reEnroll(
  ports: ManagementPorts,
  id: AuthenticatorId,
  expiresAt: Instant | undefined,
  caller: Caller,
): Promise<Invitation> {
  const found = orNotFound(await ports.authenticators.find(id))
  const { identityId } = found
  const kind = await kindFor(ports, found)
  const invitation = await prepareInvitation(ports, { ...kind, identityId, tags: {}, expiresAt })
  const { enrollment } = invitation
  await removeAuthenticator(ports, id, caller, (tx, removed) => {
    const isRenamed = removed.method === 'updb' && enrollment.method === 'updb'
    // Use the current username: it may have been renamed a moment ago.
    const current = isRenamed ? { ...enrollment, username: removed.username } : enrollment
    return insertEnrollmentWithin(ports, tx, current, caller)
  })
  await announceLink(ports, invitation, caller)
  return invitation
}

/** The enrollment method that replaces the authenticator by one of the same kind (D-128). */
async function kindFor(
  ports: Pick<ManagementPorts, 'cas'>,
  authenticator: Authenticator,
): Promise<EnrollmentKind> {
  if (authenticator.method === 'updb') return { method: 'updb', username: authenticator.username }
  if (authenticator.isIssuedByNetwork) return { method: 'ott' }
  const caId = await enrollingCaOf(ports, authenticator.certPem)
  if (caId !== undefined) return { method: 'ottca', caId }
  const reason = 'has a certificate of a CA without enrollment by token; delete it instead'
  throw invalid('id', reason)
}

async function enrollingCaOf(
  { cas }: Pick<ManagementPorts, 'cas'>,
  certPem: string,
): Promise<CaId | undefined> {
  const [certificate] = readCertificates(certPem)
  const found = (await cas.list()).find((ca) => {
    const [authority] = readCertificates(ca.certPem)
    const isFit = ca.isVerified && ca.isOttCaEnrollmentEnabled
    return isFit && authority && certificate && isSignedBy(certificate, authority)
  })
  return found?.id
}
