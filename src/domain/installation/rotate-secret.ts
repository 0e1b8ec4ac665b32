/**
 * Replaces the installation secret. D-141. One transaction seals every sealed value again and stores the new
 * fingerprint. The hashing secret stays the same, so that tokens and codes remain valid. Where the new secret is kept
 * is not decided here.
 */
import { createVault, type Vault } from '../../base/secrets/vault.ts'
import { record } from '../audit/record.ts'
import { openHashingSecret, secretFingerprint, secretRecord } from './installation.ts'
import type { InstallationPorts } from './ports.ts'
import type { SealedValue } from './stores.ts'

/** The secret to be replaced is no longer the current one: another rotation was faster. */
export class SecretReplaced extends Error {
  constructor() {
    super('the installation secret was replaced in the meantime')
    this.name = 'SecretReplaced'
  }
}

/** Returns how many values were sealed again. Throws SecretReplaced; then nothing has changed. */
export async function rotateSecret(
  ports: Omit<InstallationPorts, 'hashing'>,
  secrets: { readonly previous: Uint8Array; readonly next: Uint8Array },
): Promise<number> {
  const { transaction, random } = ports
  const previous = createVault(secrets.previous, random)
  const next = createVault(secrets.next, random)
  const fingerprint = secretFingerprint(secrets.previous, random)

  return transaction(async (tx) => {
    // Lock first: a concurrent sealed write is already committed, or finds another secret (keep-sealed.ts).
    if (!(await tx.installation.holdSecret(fingerprint))) throw new SecretReplaced()
    const found = await tx.installation.find()
    if (found === undefined) throw new SecretReplaced()
    const resealed = secretRecord(secrets.next, openHashingSecret(previous, found), random)
    await tx.installation.replaceSecret(fingerprint, resealed)

    const sealed = await tx.sealedValues.list()
    const count = await tx.sealedValues.replace(sealed.map((one) => sealAgain(one, previous, next)))
    // Read again to verify: after the commit, nothing could decrypt a value that was missed.
    for (const value of await tx.sealedValues.list()) openValue(value, next)
    await record(ports, tx, undefined, { type: 'secret.rotated', details: { sealedAgain: count } })
    return count
  })
}

function sealAgain(value: SealedValue, previous: Vault, next: Vault): SealedValue {
  const { purpose, context } = value
  return { ...value, sealed: next.seal(purpose, openValue(value, previous), context) }
}

function openValue({ purpose, context, sealed, key }: SealedValue, vault: Vault): Uint8Array {
  const plain = vault.open(purpose, sealed, context)
  // Continuing would lose the value permanently.
  if (plain === undefined) throw new Error(`a stored ${purpose} cannot be opened: ${key}`)
  return plain
}
