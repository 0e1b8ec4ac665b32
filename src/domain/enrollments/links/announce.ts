/**
 * Announces a new link to the receiver of the operator (D-378). Called after the commit, so that nothing is announced
 * that does not exist.
 */
import type { Caller } from '../../audit/events.ts'
import { isReset } from '../enrollment.ts'
import type { Invitation } from '../invite.ts'
import type { EnrollmentPorts } from '../ports.ts'

export async function announceLink(
  { announce, identities }: Pick<EnrollmentPorts, 'announce' | 'identities'>,
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
