/**
 * Lets an administrator manage the passwords and certificates of identities. API 3.3, 4.2; D-34, D-49. Passwords are
 * hashed before the transaction begins, so that argon2 never runs while the database is locked.
 */

import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { record } from '../audit/record.ts'
import { addAuthenticatorWithin } from '../enrollments/use-enrollment.ts'
import { hashNewPassword } from '../factors/passwords/new-password.ts'
import { withdrawResetWithin } from '../factors/withdraw-reset.ts'
import { type Authenticator, refuseLongUsername } from '../identities/authenticator.ts'
import type { Tags } from '../identities/identity.ts'
import { keepAdministrator } from '../policies/last-administrator.ts'
import { invalid, notFound, orNotFound } from '../refusals.ts'
import { endSessionsWithin } from '../sessions/ending/end-session.ts'
import type { EndingPorts } from '../sessions/ending/ports.ts'
import type { Stores, Transaction } from '../stores.ts'
import type { ManagementPorts } from './ports.ts'
import { registeredCertificate } from './registered-certificate.ts'

export type NewAuthenticator = { readonly identityId: IdentityId; readonly tags: Tags } & (
  | { readonly method: 'updb'; readonly username: string; readonly password: Secret }
  | { readonly method: 'cert'; readonly certPem: string }
)

const NO_IDENTITY = 'names an identity that does not exist'

export async function createAuthenticator(
  ports: ManagementPorts,
  input: NewAuthenticator,
  caller: Caller,
): Promise<AuthenticatorId> {
  const { identityId, tags } = input
  const credential = await credentialOf(ports, input)
  return ports.transaction(async (tx) => {
    const identity = await tx.identities.hold(identityId)
    if (identity === undefined) throw invalid('identityId', NO_IDENTITY)
    return addAuthenticatorWithin(ports, tx, { ...credential, identityId, tags }, caller)
  })
}

/** Ends the sessions that were begun with it. `also` runs in the same transaction. Throws NOT_FOUND. */
export async function removeAuthenticator(
  ports: EndingPorts & { readonly transaction: Transaction },
  id: AuthenticatorId,
  caller: Caller,
  also: (tx: Stores, removed: Authenticator) => Promise<void> = async () => {},
): Promise<void> {
  const { transaction, clock } = ports
  const outcome = await transaction(async (tx) => {
    const { identityId } = orNotFound(await tx.authenticators.find(id))
    const identity = orNotFound(await tx.identities.find(identityId))
    const take = async () => {
      // Lock as at a login: a concurrent session is either in the list of sessions below, or does not begin.
      const held = orNotFound(await tx.identities.hold(identityId))
      if (held.isAdmin && !identity.isAdmin) return 'again'
      // It may have been renamed, or a renewal of its certificate may have begun, before the lock.
      const found = orNotFound(await tx.authenticators.find(id))
      if (!(await tx.authenticators.remove(id))) throw notFound()
      const sessions = await tx.apiSessions.listByAuthenticator(id)
      const ending = { sessions, authenticators: [found] }
      await endSessionsWithin(ports, tx, ending, 'authenticator-removed', caller)
      const details = { id }
      await record(ports, tx, caller, { type: 'authenticator.deleted', identityId, details })
      if (found.method === 'updb') {
        await withdrawResetWithin(ports, tx, { method: 'reset-password', identityId }, caller)
      }
      await also(tx, found)
      return 'done'
    }
    if (!identity.isAdmin) return take()
    return keepAdministrator(tx, identityId, { now: clock.now(), caller }, take)
  })
  // It became an administrator since it was read: all administrators are locked before this one.
  if (outcome === 'again') return removeAuthenticator(ports, id, caller, also)
}

/** D-22: clears the failures and the lock of a password. Throws NOT_FOUND. */
export function unlockAuthenticator(
  ports: AuditPorts & { readonly transaction: Transaction },
  id: AuthenticatorId,
  caller: Caller,
): Promise<void> {
  return ports.transaction(async (tx) => {
    const found = orNotFound(await tx.authenticators.find(id))
    if (found.method !== 'updb') throw invalid('method', 'only a password can be locked')
    await tx.authenticators.unlock(id)
    const { identityId } = found
    await record(ports, tx, caller, { type: 'authenticator.unlocked', identityId, details: { id } })
  })
}

/** The credential: the hash of the password, or the certificate in our own form. */
async function credentialOf(ports: ManagementPorts, input: NewAuthenticator) {
  if (input.method === 'cert')
    return { method: 'cert', ...registeredCertificate(input.certPem, ports.ownAnchors()) } as const
  const { identityId, username, password } = input
  refuseLongUsername(username)
  const { identity, policy } = await ports.transaction(async (tx) => {
    const identity = await tx.identities.find(identityId)
    return { identity, policy: identity && (await tx.authPolicies.find(identity.authPolicyId)) }
  })
  if (identity === undefined || policy === undefined) throw invalid('identityId', NO_IDENTITY)
  const passwordHash = await hashNewPassword(ports, password, { username, identity, policy })
  return { method: 'updb', username, passwordHash, lockedUntil: undefined } as const
}
