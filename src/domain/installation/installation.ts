/**
 * The first start of an installation: binds the database to its secret, and creates the default policy and the
 * administrator. D-48: a start with another secret is refused. D-49 decides where a random password is shown.
 */

import { type AuthenticatorId, type IdentityId, newId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import {
  createVault,
  INSTALLATION_SECRET_BYTES,
  type SecretHash,
  type Vault,
} from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import { record } from '../audit/record.ts'
import type { FreshAuthenticator, UpdbAuthenticator } from '../identities/authenticator.ts'
import { type FreshIdentity, freshIdentity } from '../identities/identity.ts'
import { DEFAULT_POLICY_ID, defaultPolicy, productionPolicy } from '../policies/auth-policy.ts'
import type { InstallationPorts } from './ports.ts'
import type { Installation, SecretRecord } from './stores.ts'

/** Name and username of the first administrator. */
export const ADMINISTRATOR = 'admin'

/** The database was created with another installation secret: nothing in it can be decrypted. */
export class ForeignDatabase extends Error {
  constructor() {
    super('this database was made with a different installation secret')
    this.name = 'ForeignDatabase'
  }
}

export interface OpenInstallation {
  readonly vault: Vault
  /** Fingerprint of the secret that the vault seals under. */
  readonly fingerprint: SecretHash
  /** The stored hashing secret of the vault: it changes with a restore (D-159). */
  readonly sealedHashingSecret: string
}

/** Returns undefined if the database is empty; throws ForeignDatabase if it belongs to another secret. */
export async function openInstallation(deps: {
  readonly installation: Pick<Installation, 'find'>
  readonly secret: Uint8Array
  readonly random: Random
}): Promise<OpenInstallation | undefined> {
  const { installation, secret, random } = deps
  const found = await installation.find()
  if (found === undefined) return undefined
  const fingerprint = secretFingerprint(secret, random)
  if (found.secretFingerprint !== fingerprint) throw new ForeignDatabase()
  const hashingSecret = openHashingSecret(createVault(secret, random), found)
  const { sealedHashingSecret } = found
  return { vault: createVault(secret, random, hashingSecret), fingerprint, sealedHashingSecret }
}

/** Identifies a secret in the database. It decrypts nothing and reveals nothing about the secret. */
export function secretFingerprint(secret: Uint8Array, random: Random): SecretHash {
  return createVault(secret, random).hash('installation', 'fingerprint')
}

/** The record of a secret: its fingerprint, and the hashing secret, sealed under it. */
export function secretRecord(
  secret: Uint8Array,
  hashingSecret: Uint8Array,
  random: Random,
): SecretRecord {
  return {
    secretFingerprint: secretFingerprint(secret, random),
    sealedHashingSecret: createVault(secret, random).seal('hashing-secret', hashingSecret),
  }
}

/** Throws if another vault sealed it, or if the row is damaged. */
export function openHashingSecret(
  vault: Pick<Vault, 'open'>,
  { sealedHashingSecret }: SecretRecord,
): Uint8Array {
  const opened = vault.open('hashing-secret', sealedHashingSecret)
  if (opened === undefined) throw new Error('the stored hashing secret cannot be opened')
  return opened
}

/**
 * Prepares an empty database. Of several instances that start at the same time, one does it; returns whether this one
 * did. That one calls `storePassword` in the transaction; if it throws, nothing is installed (D-330).
 */
export async function install(
  ports: InstallationPorts,
  secret: Uint8Array,
  administratorPassword: Secret,
  storePassword: () => Promise<void> = async () => {},
): Promise<boolean> {
  const { transaction, hashing, clock, random } = ports
  const passwordHash = await hashing.hash(administratorPassword)
  const now = clock.now()
  const secrets = secretRecord(secret, random.bytes(INSTALLATION_SECRET_BYTES), random)

  return transaction(async (tx) => {
    if (!(await tx.installation.insert({ ...secrets, createdAt: now }))) return false
    await tx.authPolicies.insert(defaultPolicy(now))
    await tx.authPolicies.insert(productionPolicy(now))
    const { identity, authenticator } = newAdministrator(passwordHash, now, random)
    await tx.identities.insert(identity)
    await tx.authenticators.insert(authenticator)
    const { id: identityId } = identity
    await record(ports, tx, undefined, { type: 'identity.created', identityId })
    const details = { id: authenticator.id }
    await record(ports, tx, undefined, { type: 'authenticator.created', identityId, details })
    await storePassword()
    return true
  })
}

/** As created by a first start. */
export function newAdministrator(
  passwordHash: string,
  now: Instant,
  random: Random,
): { readonly identity: FreshIdentity; readonly authenticator: FreshAuthenticator } {
  const id = newId<IdentityId>(random)
  const named = { id, name: ADMINISTRATOR }
  return {
    identity: freshIdentity({ ...named, authPolicyId: DEFAULT_POLICY_ID, isAdmin: true }, now),
    authenticator: newPassword(
      { identityId: id, username: ADMINISTRATOR, passwordHash },
      now,
      random,
    ),
  }
}

export function newPassword(
  owned: Pick<UpdbAuthenticator, 'identityId' | 'username' | 'passwordHash'>,
  now: Instant,
  random: Random,
): FreshAuthenticator {
  return {
    ...owned,
    id: newId<AuthenticatorId>(random),
    method: 'updb',
    lockedUntil: undefined,
    tags: {},
    createdAt: now,
    updatedAt: now,
  }
}
