/**
 * Lets an administrator change a password, username or certificate. API 3.3, 4.2; D-34, D-122. The password is hashed
 * before the transaction, which then reads the authenticator again, so that concurrent changes are both kept.
 */

import type { AuthenticatorId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import { changedFields, changesBetween } from '../changes.ts'
import { hashNewPassword } from '../factors/passwords/new-password.ts'
import { withdrawResetWithin } from '../factors/withdraw-reset.ts'
import {
  type Authenticator,
  type CertAuthenticator,
  type RegisteredCertificate,
  refuseLongUsername,
  type UpdbAuthenticator,
} from '../identities/authenticator.ts'
import type { Tags } from '../identities/identity.ts'
import { keepAdministrator } from '../policies/last-administrator.ts'
import { orNotFound, refuseConflict } from '../refusals.ts'
import { endSessionsWithin } from '../sessions/ending/end-session.ts'
import type { EndingPorts } from '../sessions/ending/ports.ts'
import type { Stores } from '../stores.ts'
import type { ManagementPorts } from './ports.ts'
import { registeredCertificate } from './registered-certificate.ts'

/** Always of the same method as the authenticator: neither the method nor the identity ever changes. */
export type AuthenticatorChange =
  | {
      readonly method: 'updb'
      readonly username: string
      /** Undefined: keep the current one. */
      readonly password: Secret | undefined
      readonly tags: Tags
    }
  | { readonly method: 'cert'; readonly certPem: string; readonly tags: Tags }

/** Without plain stores, because these work inside a transaction. */
type ReplacingPorts = EndingPorts & Pick<ManagementPorts, 'ownAnchors'>

/**
 * Replaces the authenticator by what `change` returns, which is called twice. A new password ends every session of the
 * identity and clears its lock; a new certificate counts as a removal of the old one (D-117). Throws NOT_FOUND, and
 * what `change` throws.
 */
export async function updateAuthenticator(
  ports: ReplacingPorts &
    Pick<ManagementPorts, 'transaction' | 'hashing' | 'brand' | 'rejectsCommonPasswords'>,
  id: AuthenticatorId,
  change: (current: Authenticator) => AuthenticatorChange,
  caller: Caller,
): Promise<void> {
  const { transaction, clock } = ports
  const { authenticator, identity, policy } = await transaction((tx) => readOwned(tx, id))
  const asked = change(authenticator)
  let passwordHash: string | undefined
  if (asked.method === 'updb') {
    const { username, password } = asked
    refuseLongUsername(username)
    passwordHash =
      password && (await hashNewPassword(ports, password, { username, identity, policy }))
  }
  await transaction(async (tx) => {
    const { identity: owner } = await readOwned(tx, id)
    const write = async () => {
      // Lock as at a login: a concurrent session is either in the list of sessions below, or does not begin.
      await tx.identities.hold(owner.id)
      const current = orNotFound(await tx.authenticators.find(id))
      const next = change(current)
      return current.method === 'updb' && next.method === 'updb'
        ? replaceUpdb(ports, tx, current, { ...next, passwordHash }, caller)
        : replaceCert(ports, tx, current, next, caller)
    }
    if (!owner.isAdmin) return write()
    return keepAdministrator(tx, owner.id, { now: clock.now(), caller }, write)
  })
}

async function replaceUpdb(
  ports: ReplacingPorts,
  tx: Stores,
  current: UpdbAuthenticator,
  next: { username: string; passwordHash: string | undefined; tags: Tags },
  caller: Caller,
): Promise<void> {
  const { id, identityId, credentialVersion } = current
  const { username, passwordHash, tags } = next
  const changed: string[] = [...changedFields(current, { username, tags })]
  if (passwordHash !== undefined) changed.push('password')
  if (changed.length === 0) return
  const now = ports.clock.now()
  refuseConflict(await tx.authenticators.replaceUpdb(id, credentialVersion, next, now))
  if (passwordHash !== undefined) {
    await tx.identities.voidLogins(identityId)
    await withdrawResetWithin(ports, tx, { method: 'reset-password', identityId }, caller)
  }
  const sessions = passwordHash === undefined ? [] : await tx.apiSessions.listOf(identityId)
  await endSessionsWithin(ports, tx, { sessions }, 'password-reset', caller)
  const details = { id, changed, changes: changesBetween(current, { username, tags }) }
  await record(ports, tx, caller, { type: 'authenticator.updated', identityId, details })
}

async function replaceCert(
  ports: ReplacingPorts,
  tx: Stores,
  current: Authenticator,
  next: AuthenticatorChange,
  caller: Caller,
): Promise<void> {
  if (current.method !== 'cert' || next.method !== 'cert') {
    throw new Error('the method of an authenticator does not change')
  }
  const { id, identityId, credentialVersion } = current
  const { tags } = next
  const certificate = anotherCertificate(ports, current, next.certPem)
  const changed: string[] = [...changedFields<CertAuthenticator>(current, { tags })]
  if (certificate !== undefined) changed.push('certPem')
  if (changed.length === 0) return
  const now = ports.clock.now()
  const written = { certificate, tags }
  refuseConflict(await tx.authenticators.replaceCert(id, credentialVersion, written, now))
  const sessions = certificate === undefined ? [] : await tx.apiSessions.listByAuthenticator(id)
  const authenticators = certificate === undefined ? [] : [withoutIt(current, certificate)]
  const ending = { sessions, authenticators }
  await endSessionsWithin(ports, tx, ending, 'certificate-replaced', caller)
  const changes = changesBetween<CertAuthenticator>(current, {
    tags,
    ...(certificate === undefined ? {} : { certPem: certificate.certPem }),
  })
  const details = { id, changed, changes }
  await record(ports, tx, caller, { type: 'authenticator.updated', identityId, details })
}

function anotherCertificate(
  { ownAnchors }: Pick<ReplacingPorts, 'ownAnchors'>,
  { fingerprint, certPem: former }: CertAuthenticator,
  certPem: string,
): RegisteredCertificate | undefined {
  // Accept the current certificate unchanged, even if it could not be registered today.
  if (certPem === former) return undefined
  const read = registeredCertificate(certPem, ownAnchors())
  return read.fingerprint === fingerprint ? undefined : read
}

/** What is removed: the certificate and its pending renewal, unless that is the new certificate (D-130). */
function withoutIt(
  { renewal, ...former }: CertAuthenticator,
  { fingerprint }: RegisteredCertificate,
): CertAuthenticator {
  return renewal?.fingerprint === fingerprint ? former : { ...former, renewal }
}

async function readOwned(tx: Stores, id: AuthenticatorId) {
  const authenticator = orNotFound(await tx.authenticators.find(id))
  const identity = orNotFound(await tx.identities.find(authenticator.identityId))
  const policy = orNotFound(await tx.authPolicies.find(identity.authPolicyId))
  return { authenticator, identity, policy }
}
