/**
 * What a receiver learns about a link that it is to hand over (D-378). Whoever creates or refreshes an enrollment calls
 * `announceLink` after the commit, so that nothing is announced that does not exist.
 */
import type { EnrollmentId } from '../../../base/ids.ts'
import type { Secret } from '../../../base/secrets/secret.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { Caller } from '../../audit/events.ts'
import type { Identity } from '../../identities/identity.ts'
import type { Identities } from '../../identities/stores.ts'
import { type EnrollmentMethod, isReset } from '../enrollment.ts'
import type { Invitation } from '../invite.ts'

export interface LinkNotice {
  readonly type: 'invitation.created' | 'reset.created'
  readonly enrollment: {
    readonly id: EnrollmentId
    readonly method: EnrollmentMethod
    readonly username: string | undefined
    readonly expiresAt: Instant
  }
  readonly identity: Pick<Identity, 'id' | 'name' | 'externalId' | 'tags'>
  readonly link: Secret
  /** Who asked for the link, for the events about its delivery. */
  readonly caller: Caller
}

/** Returns at once; undefined if no receiver is configured. */
export type Announce = ((notice: LinkNotice) => void) | undefined

export async function announceLink(
  {
    announce,
    identities,
  }: {
    readonly announce: Announce
    readonly identities: Pick<Identities, 'find'>
  },
  { enrollment, link }: Invitation,
  caller: Caller,
): Promise<void> {
  if (announce === undefined || link === undefined) return
  const identity = await identities.find(enrollment.identityId)
  // Deleted in the meantime, and its enrollment with it.
  if (identity === undefined) return
  const { id, method, expiresAt } = enrollment
  const username = enrollment.method === 'updb' ? enrollment.username : undefined
  const { name, externalId, tags } = identity
  announce({
    type: isReset(enrollment) ? 'reset.created' : 'invitation.created',
    enrollment: { id, method, username, expiresAt },
    identity: { id: identity.id, name, externalId, tags },
    link,
    caller,
  })
}
