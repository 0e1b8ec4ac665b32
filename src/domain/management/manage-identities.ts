/**
 * Lets an administrator manage identities. API 3.3, 4.1; D-34, D-49. Each change is one transaction with its audit
 * event. Sessions end in the same transaction, and immediately on this instance.
 */

import { type IdentityId, newId } from '../../base/ids.ts'
import { minutes } from '../../base/time/duration.ts'
import { plus, toRfc3339 } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import type { SessionEndReason } from '../audit/reasons.ts'
import { record } from '../audit/record.ts'
import { removeAllFactors } from '../factors/second-factors.ts'
import { type ChosenOfIdentity, freshIdentity, type Identity } from '../identities/identity.ts'
import { checkedHosts } from '../identities/router-hosts.ts'
import { DEFAULT_POLICY_ID } from '../policies/auth-policy.ts'
import { keepAdministrator } from '../policies/last-administrator.ts'
import { invalid, orNotFound, refuseConflict } from '../refusals.ts'
import { endSessionsWithin } from '../sessions/ending/end-session.ts'
import type { EndingPorts } from '../sessions/ending/ports.ts'
import { endSessionsOfPasskeys } from '../sessions/session-passkeys.ts'
import type { Stores, Transaction } from '../stores.ts'

export type NewIdentity = Omit<ChosenOfIdentity, 'authPolicyId'> & {
  /** Undefined: the default one (API 4.1). */
  readonly authPolicyId: Identity['authPolicyId'] | undefined
}

interface InTransaction {
  readonly transaction: Transaction
}

/** `also` runs in the same transaction, for an id that is known before. Throws COULD_NOT_VALIDATE, ENTITY_NAME_IN_USE. */
export async function createIdentity(
  ports: AuditPorts & InTransaction,
  input: NewIdentity,
  caller: Caller,
  also?: { readonly id: IdentityId; within(tx: Stores): Promise<void> },
): Promise<IdentityId> {
  const { transaction, clock, random } = ports
  const now = clock.now()
  const id = also?.id ?? newId<IdentityId>(random)
  const { authPolicyId = DEFAULT_POLICY_ID } = input
  const hosts = checkedHosts(input)
  await transaction(async (tx) => {
    // First, as every change of rules (D-34): logins accept these hosts (D-392).
    if (hosts.length > 0) await tx.ruleVersions.raise()
    if ((await tx.authPolicies.hold(authPolicyId)) === undefined) {
      throw invalid('authPolicyId', 'names a policy that does not exist')
    }
    const identity = freshIdentity({ ...input, id, hosts, authPolicyId }, now)
    refuseConflict(await tx.identities.insert(identity))
    await record(ports, tx, caller, { type: 'identity.created', identityId: id })
    await also?.within(tx)
  })
  return id
}

/** Deletes it with its authenticators, its TOTP and its sessions. Throws NOT_FOUND. */
export function deleteIdentity(
  ports: EndingPorts & InTransaction,
  id: IdentityId,
  caller: Caller,
): Promise<void> {
  return cutOff(ports, id, 'identity-deleted', caller, async (tx) => {
    // Before the removal, while the identity still has a name (D-350).
    await record(ports, tx, caller, { type: 'identity.deleted', identityId: id })
    await tx.identities.remove(id)
  })
}

/** Ends all its sessions. For 0 minutes: until an administrator enables it. Throws NOT_FOUND. */
export function disableIdentity(
  ports: EndingPorts & InTransaction,
  id: IdentityId,
  durationMinutes: number,
  caller: Caller,
): Promise<void> {
  return cutOff(ports, id, 'identity-disabled', caller, async (tx) => {
    const at = ports.clock.now()
    const until = durationMinutes === 0 ? undefined : plus(at, minutes(durationMinutes))
    await tx.identities.replaceDisablement(id, { at, until }, at)
    const details = until === undefined ? {} : { details: { until: toRfc3339(until) } }
    await record(ports, tx, caller, { type: 'identity.disabled', identityId: id, ...details })
  })
}

/** Throws NOT_FOUND. */
export async function enableIdentity(
  ports: AuditPorts & InTransaction,
  id: IdentityId,
  caller: Caller,
): Promise<void> {
  const outcome = await ports.transaction(async (tx) => {
    const found = orNotFound(await tx.identities.find(id))
    await raiseForHosts(tx, found)
    const identity = orNotFound(await tx.identities.hold(id))
    if (needsOtherLocks(found, identity)) return 'again'
    if (identity.disabledAt === undefined) return 'done'
    await tx.identities.replaceDisablement(id, undefined, ports.clock.now())
    await record(ports, tx, caller, { type: 'identity.enabled', identityId: id })
    return 'done'
  })
  if (outcome === 'again') return enableIdentity(ports, id, caller)
}

/**
 * Removes the second factors with their recovery codes, for a lost phone, and ends the sessions that a passkey began.
 * Throws NOT_FOUND, MFA_NOT_ENROLLED.
 */
export function removeMfa(
  ports: EndingPorts & InTransaction,
  id: IdentityId,
  caller: Caller,
): Promise<void> {
  return ports.transaction(async (tx) => {
    orNotFound(await tx.identities.hold(id))
    const owned = await tx.passkeys.listOf(id)
    const factors = await removeAllFactors(ports, tx, id, caller)
    if (factors.length === 0) throw new Failure('MFA_NOT_ENROLLED')
    const ids = owned.map((passkey) => passkey.id)
    await endSessionsOfPasskeys(ports, tx, ids, caller)
    await record(ports, tx, caller, { type: 'mfa.removed', identityId: id, details: {} })
  })
}

/** Logins accept the hosts of a router while it is enabled (D-392). Before any lock, as every change of rules. */
async function raiseForHosts(tx: Stores, identity: Identity): Promise<void> {
  if (identity.hosts.length > 0) await tx.ruleVersions.raise()
}

/**
 * Whether the identity has changed between its read and its lock so that something must be locked before it: the version
 * of the rules for a router with hosts, or all administrators for one of them. Then the transaction begins again.
 */
function needsOtherLocks(read: Identity, held: Identity): boolean {
  const hasHostsNow = held.hosts.length > 0 && read.hosts.length === 0
  return hasHostsNow || (held.isAdmin && !read.isAdmin)
}

/** Disables or removes an identity, and ends everything it has begun. */
async function cutOff(
  ports: EndingPorts & InTransaction,
  id: IdentityId,
  reason: Extract<SessionEndReason, 'identity-deleted' | 'identity-disabled'>,
  caller: Caller,
  change: (tx: Stores, identity: Identity) => Promise<unknown>,
): Promise<void> {
  const outcome = await ports.transaction(async (tx) => {
    const found = orNotFound(await tx.identities.find(id))
    await raiseForHosts(tx, found)
    const cut = async () => {
      // Lock it: a concurrent session is either in the list of sessions below, or does not begin.
      const identity = orNotFound(await tx.identities.hold(id))
      if (needsOtherLocks(found, identity)) return 'again'
      const sessions = await tx.apiSessions.listOf(id)
      const isGoing = reason === 'identity-deleted'
      const authenticators = isGoing ? await tx.authenticators.listOf(id) : []
      await endSessionsWithin(ports, tx, { sessions, authenticators }, reason, caller)
      await tx.identities.voidLogins(id)
      await change(tx, identity)
      return 'done'
    }
    if (!found.isAdmin) return cut()
    return keepAdministrator(tx, id, { now: ports.clock.now(), caller }, cut)
  })
  if (outcome === 'again') return cutOff(ports, id, reason, caller, change)
}
