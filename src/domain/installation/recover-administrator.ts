/**
 * Restores access for an operator who controls the machine but cannot log in: D-49, D-140. One transaction removes
 * whatever keeps an administrator from logging in with a password, and records what it was. Certificates and other
 * identities are not changed.
 */

import { type AuthPolicyId, type IdentityId, newId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { RecoveredPart } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import { removeAllFactors } from '../factors/second-factors.ts'
import { withdrawResetWithin } from '../factors/withdraw-reset.ts'
import { lockEnd, type UpdbAuthenticator } from '../identities/authenticator.ts'
import { type Identity, isDisabled } from '../identities/identity.ts'
import { equals } from '../lists/filters.ts'
import { type AuthPolicy, DEFAULT_POLICY_ID, defaultPolicy } from '../policies/auth-policy.ts'
import { endSessionsWithin } from '../sessions/ending/end-session.ts'
import type { EndingPorts } from '../sessions/ending/ports.ts'
import type { Stores } from '../stores.ts'
import { newAdministrator, newPassword } from './installation.ts'
import type { InstallationPorts } from './ports.ts'

export type Recovery =
  | {
      readonly outcome: 'recovered'
      readonly name: string
      readonly username: string
      /** Its current policy; not `default` if that allows no password login. */
      readonly policy: string
      readonly reset: readonly RecoveredPart[]
      readonly endedSessions: number
    }
  /** There was no identity at all: the administrator was created, as at a first start. */
  | { readonly outcome: 'created'; readonly username: string }
  | { readonly outcome: 'unknown' }
  /** The operator must choose an administrator: there are several, or none. */
  | { readonly outcome: 'ambiguous'; readonly administrators: readonly Named[] }

export type Named = Pick<Identity, 'id' | 'name'>

/** Name of the policy used if `default` does not allow a login with a password alone. */
const RECOVERY_POLICY = 'recovery'

/** A longer list is not readable on a terminal. */
const MOST_LISTED = 100

export async function recoverAdministrator(
  ports: InstallationPorts & EndingPorts,
  /** A name or an id; undefined: the only administrator. */
  wanted: string | undefined,
  password: Secret,
  /** Called in the transaction if it sets the password; if it throws, nothing changes (D-330). */
  storePassword: () => Promise<void> = async () => {},
): Promise<Recovery> {
  const { transaction, hashing, clock, random } = ports
  const passwordHash = await hashing.hash(password)

  return transaction(async (tx) => {
    const recovery = await recover(tx)
    if ('username' in recovery) await storePassword()
    return recovery
  })

  async function recover(tx: Stores): Promise<Recovery> {
    // Before locking an identity, as every change of the rules does.
    await tx.ruleVersions.raise()
    const target = await findTarget(tx, wanted)
    if (target === 'nobody') return create(tx)
    if ('outcome' in target) return target
    const identity = await tx.identities.hold(target.id)
    return identity === undefined ? { outcome: 'unknown' } : reset(tx, identity)
  }

  async function create(tx: Stores): Promise<Recovery> {
    const { identity, authenticator } = newAdministrator(passwordHash, clock.now(), random)
    const policy = await policyThatLeadsIn(tx)
    await tx.identities.insert({ ...identity, authPolicyId: policy.id })
    await tx.authenticators.insert(authenticator)
    const { id: identityId, name } = identity
    await record(ports, tx, undefined, { type: 'identity.created', identityId })
    return { outcome: 'created', username: name }
  }

  async function reset(tx: Stores, identity: Identity): Promise<Recovery> {
    const { id, name } = identity
    const now = clock.now()
    const parts: RecoveredPart[] = ['password']
    const policy = await policyThatLeadsIn(tx)
    if (identity.authPolicyId !== policy.id) parts.push('policy')
    if (!identity.isAdmin) parts.push('administrator')
    if (isDisabled(identity, now)) parts.push('disablement')

    const next = { ...identity, isAdmin: true, authPolicyId: policy.id, updatedAt: now }
    await tx.identities.replace(next)
    await tx.identities.replaceDisablement(id, undefined, now)
    const before = (await tx.authenticators.listOf(id)).find((one) => one.method === 'updb')
    if (before !== undefined && lockEnd(before, now) !== undefined) parts.push('lock')
    const username =
      before === undefined ? await addPassword(tx, identity) : await setPassword(tx, before)
    parts.push(...(await removeAllFactors(ports, tx, id, undefined)))
    // Its holder could replace the new password.
    await withdrawResetWithin(ports, tx, { method: 'reset-password', identityId: id }, undefined)

    await tx.identities.voidLogins(id)
    const sessions = await tx.apiSessions.listOf(id)
    await endSessionsWithin(ports, tx, { sessions }, 'password-reset', undefined)
    const details = { reset: parts }
    await record(ports, tx, undefined, { type: 'administrator.recovered', identityId: id, details })
    const endedSessions = sessions.length
    return {
      outcome: 'recovered',
      name,
      username,
      policy: policy.name,
      reset: parts,
      endedSessions,
    }
  }

  /** Failures and lock are cleared with the old password. */
  async function setPassword(tx: Stores, before: UpdbAuthenticator): Promise<string> {
    const { id, username, tags, credentialVersion } = before
    const next = { username, passwordHash, tags }
    const outcome = await tx.authenticators.replaceUpdb(id, credentialVersion, next, clock.now())
    if (outcome !== 'replaced')
      throw new Error('another process is changing the password; try again')
    return username
  }

  /** Its name, or a random one if another identity has that username. */
  async function addPassword(tx: Stores, { id: identityId, name }: Named): Promise<string> {
    const now = clock.now()
    for (const username of [name, `recovered-${newId<IdentityId>(random)}`]) {
      const added = newPassword({ identityId, username, passwordHash }, now, random)
      if ((await tx.authenticators.insert(added)) === 'inserted') return username
    }
    throw new Error('another process is adding a password; try again')
  }

  /**
   * `default`, unless it was changed so that a password alone is not enough. In that case it stays unchanged, because
   * all other logins depend on it, and this identity gets a separate policy for passwords alone.
   */
  async function policyThatLeadsIn(tx: Stores): Promise<AuthPolicy> {
    const policies = await tx.authPolicies.list()
    const leading = policies.filter(leadsIn)
    const found =
      leading.find(({ id }) => id === DEFAULT_POLICY_ID) ??
      leading.find(({ name }) => name === RECOVERY_POLICY)
    if (found !== undefined) return found
    const id = newId<AuthPolicyId>(random)
    const isTaken = policies.some(({ name }) => name === RECOVERY_POLICY)
    const name = isTaken ? `${RECOVERY_POLICY}-${id}` : RECOVERY_POLICY
    const policy = { ...passwordPolicy(), id, name }
    await tx.authPolicies.insert(policy)
    await record(ports, tx, undefined, { type: 'policy.created', details: { id, name } })
    return policy
  }

  function passwordPolicy(): AuthPolicy {
    const { primary, ...rest } = defaultPolicy(clock.now())
    const { cert, extJwt, updb } = primary
    return {
      ...rest,
      primary: {
        updb,
        cert: { ...cert, allowed: false },
        extJwt: { ...extJwt, allowed: false },
        passkey: { allowed: false },
      },
    }
  }
}

/**
 * A required TOTP does not prevent the login: it is enrolled during the login. A passkey cannot be enrolled at every
 * address (D-430).
 */
function leadsIn({ primary, secondary }: AuthPolicy): boolean {
  const { requireExtJwt, requirePasskey } = secondary
  return primary.updb.allowed && requireExtJwt === undefined && !requirePasskey
}

async function findTarget(
  tx: Stores,
  wanted: string | undefined,
): Promise<Named | 'nobody' | Exclude<Recovery, { outcome: 'recovered' | 'created' }>> {
  if (wanted !== undefined) {
    const named = await listWhere(tx, 'name', wanted)
    return (await tx.identities.find(wanted as IdentityId)) ?? named[0] ?? { outcome: 'unknown' }
  }
  const administrators = await listWhere(tx, 'isAdmin', true)
  const [only, ...more] = administrators
  if (only !== undefined && more.length === 0) return only
  if (only === undefined) {
    const { totalCount } = await tx.identities.list({ limit: 1, offset: 0 })
    if (totalCount === 0) return 'nobody'
  }
  return {
    outcome: 'ambiguous',
    administrators: administrators.map(({ id, name }) => ({ id, name })),
  }
}

async function listWhere(
  { identities }: Stores,
  name: 'name' | 'isAdmin',
  value: string | boolean,
): Promise<readonly Identity[]> {
  return (await identities.list({ filter: equals(name, value), limit: MOST_LISTED, offset: 0 }))
    .rows
}
