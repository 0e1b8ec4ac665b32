/**
 * The first start of an installation: whose database this is, the default policy and the administrator.
 * D-48: a start with another secret is refused. D-49 decides where a random password is shown.
 */
import type { Clock } from '../../base/clock.ts'
import { type AuthenticatorId, type IdentityId, newId } from '../../base/ids.ts'
import type { Random } from '../../base/random.ts'
import type { Secret } from '../../base/secret.ts'
import type { Vault } from '../../base/vault.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { PasswordHashing } from '../factors/hashing.ts'
import { DEFAULT_POLICY_ID, defaultPolicy, productionPolicy } from '../policies/auth-policy.ts'
import type { Transaction } from '../stores.ts'
import type { Installation } from './stores.ts'

/** Name and username of the first administrator. */
export const ADMINISTRATOR = 'admin'

/** The database was made with another installation secret: nothing in it could be read. */
export class ForeignDatabase extends Error {
  constructor() {
    super('this database was made with another installation secret')
    this.name = 'ForeignDatabase'
  }
}

export type InstallationState = 'new' | 'existing'

/** Whether the database is empty or ours; throws ForeignDatabase when it is somebody else's. */
export async function inspectInstallation(deps: {
  readonly installation: Installation
  readonly vault: Vault
}): Promise<InstallationState> {
  const found = await deps.installation.findSecretFingerprint()
  if (found === undefined) return 'new'
  if (found !== fingerprint(deps.vault)) throw new ForeignDatabase()
  return 'existing'
}

/**
 * Prepares an empty database. Of several instances that start at the same time one does it; answers whether it
 * was this one.
 */
export async function install(
  deps: {
    readonly transaction: Transaction
    readonly vault: Vault
    readonly hashing: Pick<PasswordHashing, 'hash'>
    readonly clock: Clock
    readonly random: Random
    readonly recordEvent: RecordEvent
  },
  administratorPassword: Secret,
): Promise<boolean> {
  const { transaction, vault, hashing, clock, random, recordEvent } = deps
  const passwordHash = await hashing.hash(administratorPassword)
  const now = clock.now()
  const identityId = newId<IdentityId>(random)
  const stamps = { createdAt: now, updatedAt: now }

  return transaction(async (tx) => {
    const isFirst = await tx.installation.insert({
      secretFingerprint: fingerprint(vault),
      createdAt: now,
    })
    if (!isFirst) return false
    await tx.authPolicies.insert(defaultPolicy(now))
    await tx.authPolicies.insert(productionPolicy(now))
    await tx.identities.insert({
      id: identityId,
      name: ADMINISTRATOR,
      type: 'Default',
      isAdmin: true,
      externalId: undefined,
      authPolicyId: DEFAULT_POLICY_ID,
      roleAttributes: [],
      appData: {},
      tags: {},
      disabledAt: undefined,
      disabledUntil: undefined,
      ...stamps,
    })
    await tx.authenticators.insert({
      id: newId<AuthenticatorId>(random),
      method: 'updb',
      identityId,
      username: ADMINISTRATOR,
      passwordHash,
      lockedUntil: undefined,
      tags: {},
      ...stamps,
    })
    await tx.events.insert(recordEvent(undefined, { type: 'identity.created', identityId }))
    return true
  })
}

function fingerprint(vault: Vault) {
  return vault.hash('installation', 'fingerprint')
}
