/**
 * Removes the second factors of a lost phone with a link (D-375). The password is asked for as well, if the identity has
 * one that can log in: the link replaces the second factor, not the first. Every session ends, because one may be on
 * the phone. The next login enrolls again what the policy demands.
 */
import type { Secret } from '../../../base/secrets/secret.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { Caller } from '../../audit/events.ts'
import { record } from '../../audit/record.ts'
import type { ShownDevice } from '../../factors/guessing/known-devices.ts'
import { removeAllFactors } from '../../factors/second-factors.ts'
import type { Accepted } from '../../factors/verdict.ts'
import type { LoginPorts } from '../../login/ports.ts'
import { type PrimarySubmission, provePrimary } from '../../login/prove-primary.ts'
import { invalid } from '../../refusals.ts'
import { endSessionsWithin } from '../../sessions/ending/end-session.ts'
import type { EnrollmentPorts } from '../ports.ts'
import { spendEnrollment } from '../use-enrollment.ts'
import { type OpenedInvitation, openInvitation } from './open-invitation.ts'

export interface MfaReset {
  readonly token: Secret
  /** Undefined if the page did not ask for it. */
  readonly password: Secret | undefined
  readonly device: ShownDevice
}

/** Whether the page asks for the password. */
export function needsPassword({ username, policy }: OpenedInvitation): boolean {
  return username !== undefined && policy.primary.updb.allowed
}

/** Throws what `findEnrollment` throws; COULD_NOT_VALIDATE for the password; RATE_LIMITED, SERVER_TOO_BUSY as a login. */
export async function resetMfa(
  ports: EnrollmentPorts & LoginPorts,
  { token, password, device }: MfaReset,
  caller: Caller,
): Promise<OpenedInvitation> {
  const opened = await openInvitation(ports, token, caller)
  const { enrollment, identity, username } = opened
  if (enrollment.method !== 'reset-mfa') throw new Failure('INVALID_ENROLLMENT_TOKEN')
  const { id: identityId } = identity
  if (needsPassword(opened) && username !== undefined) {
    if (password === undefined) throw invalid('password', 'is missing')
    const credential = { method: 'password', credentials: { username, password } } as const
    const accepted = await prove(ports, { credential, bearers: [], caller, device })
    if (accepted?.identity.id !== identityId) {
      throw invalid('password', 'is wrong, or too many wrong ones were tried')
    }
  }
  const shown = { token, method: 'reset-mfa', caller } as const
  await spendEnrollment(ports, shown, identityId, async (tx) => {
    const removed = await removeAllFactors(ports, tx, identityId, caller)
    await tx.identities.voidLogins(identityId)
    const sessions = await tx.apiSessions.listOf(identityId)
    await endSessionsWithin(ports, tx, { sessions }, 'mfa-reset', caller)
    // An administrator may have removed them in the meantime.
    if (removed.length === 0) return
    await record(ports, tx, caller, { type: 'mfa.removed', identityId, details: {} })
  })
  return opened
}

/** Undefined if it is wrong: the link is valid, so that this is no login that failed (D-123). */
async function prove(
  ports: LoginPorts,
  submission: PrimarySubmission,
): Promise<Accepted | undefined> {
  try {
    return await provePrimary(ports, submission)
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_AUTH') return undefined
    throw error
  }
}
