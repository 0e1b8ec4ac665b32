/**
 * What an administrator does to enrollments. API 3.3, 4.3; D-125. Each change is one transaction with its audit event;
 * what is signed is signed before it.
 */

import {
  type AuthenticatorId,
  type CaId,
  type EnrollmentId,
  type IdentityId,
  newId,
} from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import { readCertificates } from '../certificates/certificate-chain.ts'
import { hasIssued } from '../certificates/paths/find-paths.ts'
import type { Cas } from '../certificates/stores.ts'
import type { Authenticator } from '../identities/authenticator.ts'
import type { ManageIdentities, NewIdentity } from '../identities/manage.ts'
import type { ManageAuthenticators } from '../identities/manage-authenticators.ts'
import type { Authenticators } from '../identities/stores.ts'
import { invalid, notFound } from '../refusals.ts'
import type { Transaction } from '../stores.ts'
import type { EnrollmentKind } from './enrollment.ts'
import type { Invitation, Invite, WantedEnrollment } from './invite.ts'
import type { Enrollments } from './stores.ts'

/** All of them throw NOT_FOUND for an id that nothing has, and what `Invite` throws. */
export interface ManageEnrollments {
  create(wanted: WantedEnrollment, caller: Caller): Promise<Invitation>
  /** With a new identity, both or neither. */
  createWithIdentity(
    identity: NewIdentity,
    kind: EnrollmentKind,
    caller: Caller,
  ): Promise<Invitation>
  /** Another token and end; the former token is worth nothing from then on. ENROLLMENT_USED when it was used. */
  refresh(id: EnrollmentId, expiresAt: Instant | undefined, caller: Caller): Promise<Invitation>
  remove(id: EnrollmentId, caller: Caller): Promise<void>
  /**
   * An enrollment in the place of an authenticator, which is removed as by `ManageAuthenticators`: its sessions end, and
   * LAST_ADMINISTRATOR holds.
   */
  reEnroll(id: AuthenticatorId, expiresAt: Instant | undefined, caller: Caller): Promise<Invitation>
}

export function createManageEnrollments(deps: {
  readonly enrollments: Pick<Enrollments, 'find'>
  readonly authenticators: Pick<Authenticators, 'find'>
  readonly cas: Pick<Cas, 'list'>
  readonly manageIdentities: Pick<ManageIdentities, 'create'>
  readonly manageAuthenticators: Pick<ManageAuthenticators, 'remove'>
  readonly invite: Invite
  readonly transaction: Transaction
  readonly clock: Clock
  readonly random: Random
  readonly recordEvent: RecordEvent
}): ManageEnrollments {
  const { enrollments, invite, transaction, clock, recordEvent } = deps

  /** What the holder of the authenticator enrolls with the next time: the same kind of thing (D-128). */
  async function kindFor(authenticator: Authenticator): Promise<EnrollmentKind> {
    if (authenticator.method === 'updb') return { method: 'updb', username: authenticator.username }
    if (authenticator.isIssuedByNetwork) return { method: 'ott' }
    const caId = await enrollingCaOf(authenticator.certPem)
    if (caId !== undefined) return { method: 'ottca', caId }
    const reason = 'has a certificate of a CA without enrollment by token; delete it instead'
    throw invalid('id', reason)
  }

  async function enrollingCaOf(certPem: string): Promise<CaId | undefined> {
    const [certificate] = readCertificates(certPem)
    const found = (await deps.cas.list()).find((ca) => {
      const [authority] = readCertificates(ca.certPem)
      const isFit = ca.isVerified && ca.isOttCaEnrollmentEnabled
      return isFit && authority && certificate && hasIssued(authority, certificate)
    })
    return found?.id
  }

  return {
    async create(wanted, caller) {
      const invitation = await invite.prepare(wanted)
      await transaction((tx) => invite.insertWithin(tx, invitation.enrollment, caller))
      return invitation
    },

    async createWithIdentity(identity, kind, caller) {
      const id = newId<IdentityId>(deps.random)
      const wanted = { ...kind, identityId: id, tags: {}, expiresAt: undefined }
      const invitation = await invite.prepare(wanted)
      await deps.manageIdentities.create(identity, caller, {
        id,
        within: (tx) => invite.insertWithin(tx, invitation.enrollment, caller),
      })
      return invitation
    },

    async refresh(id, expiresAt, caller) {
      const found = await enrollments.find(id)
      if (found === undefined) throw notFound()
      if (found.usedAt !== undefined) throw new Failure('ENROLLMENT_USED')
      const invitation = await invite.prepareAgain(found, expiresAt)
      const { enrollment } = invitation
      await transaction(async (tx) => {
        const isReplaced = await tx.enrollments.replaceToken(id, enrollment, clock.now())
        // Somebody used or removed it in the meantime.
        if (!isReplaced) {
          throw (await tx.enrollments.find(id)) ? new Failure('ENROLLMENT_USED') : notFound()
        }
        const { identityId } = enrollment
        const refreshed = { type: 'enrollment.refreshed', identityId, details: { id } } as const
        await tx.events.insert(recordEvent(caller, refreshed))
      })
      return invitation
    },

    remove: (id, caller) =>
      transaction(async (tx) => {
        const found = await tx.enrollments.find(id)
        if (found === undefined || !(await tx.enrollments.remove(id))) throw notFound()
        const { identityId } = found
        const deleted = { type: 'enrollment.deleted', identityId, details: { id } } as const
        await tx.events.insert(recordEvent(caller, deleted))
      }),

    async reEnroll(id, expiresAt, caller) {
      const found = await deps.authenticators.find(id)
      if (found === undefined) throw notFound()
      const { identityId } = found
      const kind = await kindFor(found)
      const invitation = await invite.prepare({ ...kind, identityId, tags: {}, expiresAt })
      const { enrollment } = invitation
      await deps.manageAuthenticators.remove(id, caller, (tx, removed) => {
        const isRenamed = removed.method === 'updb' && enrollment.method === 'updb'
        // As it is called now, should somebody have renamed it a moment ago.
        const current = isRenamed ? { ...enrollment, username: removed.username } : enrollment
        return invite.insertWithin(tx, current, caller)
      })
      return invitation
    },
  }
}
