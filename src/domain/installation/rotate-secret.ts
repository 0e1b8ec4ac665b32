/**
 * Another installation secret in the place of the one in use. D-141. Everything sealed is sealed again, and the
 * fingerprint becomes the new one's, in one transaction; what hashes are made under stays, so that nothing that people
 * hold dies with the old secret. Where the new secret is kept is not known here.
 */
import { createVault, type Vault } from '../../base/secrets/vault.ts'
import { recordEvent } from '../audit/record.ts'
import { openHashingSecret, secretFingerprint, secretRecord } from './installation.ts'
import type { InstallationPorts } from './ports.ts'
import type { SealedValue } from './stores.ts'

/** The secret that was to be replaced is no longer the one in use: another rotation was faster. */
export class SecretReplaced extends Error {
  constructor() {
    super('the installation secret was replaced meanwhile')
    this.name = 'SecretReplaced'
  }
}

/** Answers how many values were sealed again. Thrown: SecretReplaced; then nothing has changed. */
export async function rotateSecret(
  ports: Omit<InstallationPorts, 'hashing'>,
  secrets: { readonly previous: Uint8Array; readonly next: Uint8Array },
): Promise<number> {
  const { transaction, random } = ports
  const previous = createVault(secrets.previous, random)
  const next = createVault(secrets.next, random)
  const fingerprint = secretFingerprint(secrets.previous, random)

  return transaction(async (tx) => {
    // First of all: whoever is about to write something sealed has written it now, or finds another secret (keep-sealed.ts).
    if (!(await tx.installation.holdSecret(fingerprint))) throw new SecretReplaced()
    const found = await tx.installation.find()
    if (found === undefined) throw new SecretReplaced()
    const record = secretRecord(secrets.next, openHashingSecret(previous, found), random)
    await tx.installation.replaceSecret(fingerprint, record)

    const sealed = await tx.sealedValues.list()
    const count = await tx.sealedValues.replace(sealed.map((one) => sealAgain(one, previous, next)))
    // Read once more, rather than believed: after the commit nothing else could open what was left out.
    for (const value of await tx.sealedValues.list()) openValue(value, next)
    const rotated = { type: 'secret.rotated', details: { sealedAgain: count } } as const
    await tx.events.insert(recordEvent(ports, undefined, rotated))
    return count
  })
}

function sealAgain(value: SealedValue, previous: Vault, next: Vault): SealedValue {
  const { purpose, context } = value
  return { ...value, sealed: next.seal(purpose, openValue(value, previous), context) }
}

function openValue({ purpose, context, sealed, key }: SealedValue, vault: Vault): Uint8Array {
  const plain = vault.open(purpose, sealed, context)
  // Going on would lose it for good.
  if (plain === undefined) throw new Error(`a stored ${purpose} cannot be opened: ${key}`)
  return plain
}
