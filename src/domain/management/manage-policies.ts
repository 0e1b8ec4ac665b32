/** Lets an administrator manage authentication policies. API 3.3, 4.4. */

import { type AuthPolicyId, type ExternalJwtSignerId, newId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { factorDemands } from '../../protocol/factors/second-factors.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { record } from '../audit/record.ts'
import { changedFields, changesBetween } from '../changes.ts'
import type { Tags } from '../identities/identity.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import { type AuthPolicy, isBuiltIn, POLICY_DEFAULTS } from '../policies/auth-policy.ts'
import { changeRules } from '../policies/change-rules.ts'
import { keepAdministrator } from '../policies/last-administrator.ts'
import type { PolicyPorts } from '../policies/ports.ts'
import { invalid, orNotFound, refuseConflict } from '../refusals.ts'
import type { Stores } from '../stores.ts'

/** A missing part is not allowed; missing fields of a part get their defaults. */
export interface NewAuthPolicy {
  readonly name: string
  readonly primary: {
    readonly [Method in keyof AuthPolicy['primary']]?:
      | (Sparse<AuthPolicy['primary'][Method]> & { readonly allowed: boolean })
      | undefined
  }
  readonly secondary: Sparse<AuthPolicy['secondary']>
  readonly tags: Tags
}

type Sparse<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

/** Throws NOT_FOUND. */
export async function findPolicy(
  { authPolicies }: Pick<PolicyPorts, 'authPolicies'>,
  id: AuthPolicyId,
): Promise<AuthPolicy> {
  return orNotFound(await authPolicies.find(id))
}

/** Returns them by name, unless the query asks for another order. */
export async function listPolicies(
  { authPolicies }: Pick<PolicyPorts, 'authPolicies'>,
  query: ListQuery,
): Promise<PageOf<AuthPolicy>> {
  return listInMemory(await authPolicies.list(), query)
}

export async function createPolicy(
  ports: PolicyPorts,
  { name, tags, ...parts }: NewAuthPolicy,
  caller: Caller,
): Promise<AuthPolicyId> {
  const { clock, random } = ports
  const now = clock.now()
  const id = newId<AuthPolicyId>(random)
  const policy = { id, name, ...complete(parts), tags, createdAt: now, updatedAt: now }
  await changeRules(ports, async (tx) => {
    await requireSigners(tx, policy)
    refuseConflict(await tx.authPolicies.insert(policy))
    await record(ports, tx, caller, { type: 'policy.created', details: { id, name } })
  })
  return id
}

/** Replaces the policy by what `change` returns. Applies to every session at its next call or refresh (API 4.4). */
export function updatePolicy(
  ports: PolicyPorts,
  id: AuthPolicyId,
  change: (current: AuthPolicy) => NewAuthPolicy,
  caller: Caller,
): Promise<void> {
  return changeRules(ports, async (tx) => {
    await replacePolicy(ports, tx, await planChange(tx, id, change, ports.clock.now()), caller)
  })
}

/** A policy before and after a change. */
export interface PlannedPolicy {
  readonly current: AuthPolicy
  readonly next: AuthPolicy
  /** The names of the members that differ. */
  readonly changed: readonly string[]
}

/** Returns the change, checked and with its defaults. Throws NOT_FOUND and COULD_NOT_VALIDATE. */
export async function planChange(
  tx: Pick<Stores, 'authPolicies' | 'externalJwtSigners'>,
  id: AuthPolicyId,
  change: (current: AuthPolicy) => NewAuthPolicy,
  now: Instant,
): Promise<PlannedPolicy> {
  const current = orNotFound(await tx.authPolicies.find(id))
  const { name, tags, ...parts } = change(current)
  const chosen = { name, ...complete(parts), tags }
  const changed = changedFields(current, chosen)
  if (changed.length > 0) await requireSigners(tx, chosen)
  return { current, next: { ...current, ...chosen, updatedAt: now }, changed }
}

/** Writes a planned change. Throws NOT_FOUND, ENTITY_NAME_IN_USE and LAST_ADMINISTRATOR. */
export async function replacePolicy(
  ports: AuditPorts,
  tx: Stores,
  { current, next, changed }: PlannedPolicy,
  caller: Caller,
): Promise<void> {
  if (changed.length === 0) return
  const now = ports.clock.now()
  const replaced = () => tx.authPolicies.replace(next)
  refuseConflict(await keepAdministrator(tx, undefined, { now, caller }, replaced))
  const { id, name, primary, secondary } = next
  const changes = changesBetween(current, { name, primary, secondary })
  const details = { id, name, changed, changes }
  await record(ports, tx, caller, { type: 'policy.updated', details })
}

export function deletePolicy(ports: PolicyPorts, id: AuthPolicyId, caller: Caller): Promise<void> {
  return changeRules(ports, async (tx) => {
    const policy = orNotFound(await tx.authPolicies.hold(id))
    if (isBuiltIn(id)) throw new Failure('ENTITY_CAN_NOT_BE_DELETED')
    if ((await tx.identities.countWithPolicy(id)) > 0) {
      throw new Failure('CAN_NOT_DELETE_REFERENCED_ENTITY')
    }
    await tx.authPolicies.remove(id)
    const { name } = policy
    await record(ports, tx, caller, { type: 'policy.deleted', details: { id, name } })
  })
}

function complete({
  primary: { cert, extJwt, updb, passkey },
  secondary,
}: Pick<NewAuthPolicy, 'primary' | 'secondary'>): Pick<AuthPolicy, 'primary' | 'secondary'> {
  const parts = [cert, extJwt, updb, passkey]
  if (!parts.some((part) => part?.allowed === true)) {
    throw invalid('primary', 'must allow at least one method')
  }
  const { allowedSigners = [] } = extJwt ?? {}
  if (new Set(allowedSigners).size < allowedSigners.length) {
    throw invalid(ALLOWED_SIGNERS, 'names a signer twice')
  }
  const { minPasswordLength, maxAttempts, lockoutDurationMinutes } = POLICY_DEFAULTS
  return {
    primary: {
      cert: {
        allowed: cert?.allowed ?? false,
        allowExpiredCerts: cert?.allowExpiredCerts ?? false,
        bindTokens: cert?.bindTokens ?? false,
      },
      extJwt: { allowed: extJwt?.allowed ?? false, allowedSigners },
      updb: {
        allowed: updb?.allowed ?? false,
        minPasswordLength: updb?.minPasswordLength ?? minPasswordLength,
        maxAttempts: updb?.maxAttempts ?? maxAttempts,
        lockoutDurationMinutes: updb?.lockoutDurationMinutes ?? lockoutDurationMinutes,
      },
      passkey: { allowed: passkey?.allowed ?? false },
    },
    secondary: {
      ...factorDemands(secondary),
      requireExtJwt: secondary.requireExtJwt,
      requireBoundToken: secondary.requireBoundToken ?? false,
    },
  }
}

const ALLOWED_SIGNERS = 'primary.extJwt.allowedSigners'

async function requireSigners(
  tx: Pick<Stores, 'externalJwtSigners'>,
  { primary, secondary }: Pick<AuthPolicy, 'primary' | 'secondary'>,
): Promise<void> {
  const signers = await tx.externalJwtSigners.list()
  const isKnown = (id: ExternalJwtSignerId) => signers.some((signer) => signer.id === id)
  if (!primary.extJwt.allowedSigners.every(isKnown)) {
    throw invalid(ALLOWED_SIGNERS, 'names a signer that does not exist')
  }
  const { requireExtJwt } = secondary
  if (requireExtJwt !== undefined && !isKnown(requireExtJwt)) {
    throw invalid('secondary.requireExtJwt', 'names a signer that does not exist')
  }
}
