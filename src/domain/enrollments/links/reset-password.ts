/**
 * Replaces a forgotten password with a link (D-375). The old one works until then. As when an administrator sets a
 * password, every session of the identity ends and its lock is cleared. A second factor stays, so that the link alone
 * does not let its holder in.
 */
import type { Secret } from '../../../base/secrets/secret.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { Caller } from '../../audit/events.ts'
import { record } from '../../audit/record.ts'
import { hashNewPassword } from '../../factors/passwords/new-password.ts'
import type { Authenticator, UpdbAuthenticator } from '../../identities/authenticator.ts'
import { endSessionsWithin } from '../../sessions/ending/end-session.ts'
import type { EnrollmentPorts } from '../ports.ts'
import { findEnrollment, policyOf, spendEnrollment } from '../use-enrollment.ts'

/** Returns the username. Throws what `findEnrollment` throws, and COULD_NOT_VALIDATE, SERVER_TOO_BUSY. */
export async function resetPassword(
  ports: EnrollmentPorts,
  { token, password }: { readonly token: Secret; readonly password: Secret },
  caller: Caller,
): Promise<string> {
  const shown = { token, method: 'reset-password', caller } as const
  const { identity } = await findEnrollment(ports, shown)
  const { id: identityId } = identity
  const policy = await policyOf(ports, identity)
  const { username } = passwordAmong(await ports.authenticators.listOf(identityId))
  const passwordHash = await hashNewPassword(ports, password, { username, identity, policy })
  let current = username
  await spendEnrollment(ports, shown, identityId, async (tx) => {
    const found = passwordAmong(await tx.authenticators.listOf(identityId))
    const { id, credentialVersion, tags } = found
    current = found.username
    const next = { username: current, passwordHash, tags }
    const now = ports.clock.now()
    const outcome = await tx.authenticators.replaceUpdb(id, credentialVersion, next, now)
    if (outcome !== 'replaced') throw new Error('a password changed while its identity was locked')
    await tx.identities.voidLogins(identityId)
    const sessions = await tx.apiSessions.listOf(identityId)
    await endSessionsWithin(ports, tx, { sessions }, 'password-reset', caller)
    const details = { id, changed: ['password'] }
    await record(ports, tx, caller, { type: 'authenticator.updated', identityId, details })
  })
  return current
}

/** An administrator deleted the password after creating the link: there is nothing left to reset. */
function passwordAmong(own: readonly Authenticator[]): UpdbAuthenticator {
  const found = own.find((one) => one.method === 'updb')
  if (found !== undefined) return found
  throw new Failure('INVALID_ENROLLMENT_TOKEN', { detail: 'the password is gone' })
}
