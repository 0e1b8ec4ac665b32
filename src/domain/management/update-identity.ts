/**
 * Lets an administrator replace an identity or change a part of it. API 1, 4.1; D-34, D-49. It is read and written in
 * one transaction that locks the row, so that concurrent changes of different fields are both kept.
 */

import type { IdentityId } from '../../base/ids.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import { type Changes, changedFields, changesBetween } from '../changes.ts'
import type { ChosenOfIdentity, Identity } from '../identities/identity.ts'
import { checkedHosts } from '../identities/router-hosts.ts'
import { endsSessions } from '../login/hold-login.ts'
import { type AuthPolicy, DEFAULT_POLICY_ID } from '../policies/auth-policy.ts'
import { keepAdministrator } from '../policies/last-administrator.ts'
import { invalid, orNotFound, refuseConflict } from '../refusals.ts'
import { endSessionsWithin } from '../sessions/ending/end-session.ts'
import { lostRoles, removeRolesWithin } from '../sessions/ending/lost-roles.ts'
import type { EndingPorts } from '../sessions/ending/ports.ts'
import type { Stores, Transaction } from '../stores.ts'
import type { NewIdentity } from './manage-identities.ts'

/**
 * Replaces the identity by what `change` returns, which may be called again if another call was faster. Ends its
 * sessions if their tokens would state something else now (D-122). Throws NOT_FOUND, and what `change` throws.
 */
export async function updateIdentity(
  ports: EndingPorts & { readonly transaction: Transaction },
  id: IdentityId,
  change: (current: Identity) => NewIdentity,
  caller: Caller,
): Promise<void> {
  const { transaction, clock } = ports
  const outcome = await transaction(async (tx) => {
    const found = orNotFound(await tx.identities.find(id))
    // First, as every change of rules: logins accept the hosts of a router (D-392).
    const isRaised = concernsHosts(found, change(found))
    if (isRaised) await tx.ruleVersions.raise()
    const write = async () => {
      const current = orNotFound(await tx.identities.hold(id))
      // It became an administrator since it was read: lock all administrators before this one.
      if (current.isAdmin && !found.isAdmin) return 'again'
      const next = change(current)
      if (concernsHosts(current, next) && !isRaised) return 'again'
      return replace(ports, tx, current, next, caller)
    }
    if (!found.isAdmin) return write()
    return keepAdministrator(tx, id, { now: clock.now(), caller }, write)
  })
  if (outcome === 'again') return updateIdentity(ports, id, change, caller)
}

function concernsHosts(current: Identity, next: NewIdentity): boolean {
  return current.hosts.length > 0 || next.hosts.length > 0
}

async function replace(
  ports: EndingPorts,
  tx: Stores,
  current: Identity,
  { authPolicyId = DEFAULT_POLICY_ID, ...given }: NewIdentity,
  caller: Caller,
): Promise<'updated' | 'unchanged'> {
  const chosen: ChosenOfIdentity = { ...given, hosts: checkedHosts(given), authPolicyId }
  const changed = changedFields(current, chosen)
  if (changed.length === 0) return 'unchanged'
  // Lock it, so that it is not deleted meanwhile.
  const policy = await tx.authPolicies.hold(authPolicyId)
  if (policy === undefined) throw invalid('authPolicyId', 'names a policy that does not exist')
  const { id } = current
  const lost = lostRoles(current, chosen)
  const roleVersion = current.roleVersion + (lost.length > 0 ? 1 : 0)
  const next: Identity = { ...current, ...chosen, roleVersion, updatedAt: ports.clock.now() }
  refuseConflict(await tx.identities.replace(next))
  const isEnd = endsSessions(current, next)
  if (isEnd) await tx.identities.voidLogins(id)
  const sessions = isEnd ? await tx.apiSessions.listOf(id) : []
  await endSessionsWithin(ports, tx, { sessions }, 'identity-changed', caller)
  await removeRolesWithin(ports, tx, next, lost)
  const changes = {
    ...changesBetween(current, chosen),
    ...(await policyNames(tx, current, policy)),
  }
  const details = { changed, changes }
  await record(ports, tx, caller, { type: 'identity.updated', identityId: id, details })
  return 'updated'
}

/** The names beside the ids: a reader of the log knows the policies by them. */
async function policyNames(
  tx: Stores,
  { authPolicyId }: Identity,
  next: AuthPolicy,
): Promise<Changes> {
  if (next.id === authPolicyId) return {}
  const former = await tx.authPolicies.find(authPolicyId)
  return { authPolicy: { from: former?.name ?? null, to: next.name } }
}
