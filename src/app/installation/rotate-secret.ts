/**
 * Rotates the installation secret on command (D-141), with or without running instances. The order makes it safe to be
 * killed at any time (D-142): write the new secret to disk, change the database, then replace the old secret.
 */
import { rm } from 'node:fs/promises'
import { systemRandom } from '../../base/secrets/random.ts'
import { INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import { secretFingerprint } from '../../domain/installation/installation.ts'
import { rotateSecret, SecretReplaced } from '../../domain/installation/rotate-secret.ts'
import { readInstallationSecret } from './installation-secret.ts'
import { openPrepared } from './prepare.ts'
import { RefusedStart } from './private-files.ts'
import { placeWaitingSecret, waitingSecretFile, writeWaitingSecret } from './waiting-secret.ts'

export interface RotatedSecret {
  /** The file with the new secret. */
  readonly path: string
  /** How many values were sealed again. */
  readonly count: number
}

export async function rotateInstallationSecret(config: Config): Promise<RotatedSecret> {
  const random = systemRandom
  const { store } = await openPrepared(config, random)
  try {
    // Read it now: opening may have finished a killed rotation.
    const previous = await readInstallationSecret(config.secret)
    if (previous === undefined) throw new RefusedStart('there is no installation secret')
    const next = random.bytes(INSTALLATION_SECRET_BYTES)
    const waiting = waitingSecretFile(config, secretFingerprint(next, random))
    await writeWaitingSecret(config, waiting, next, random)

    const { transaction } = store
    const ports = { ...auditPorts({ clock: systemClock, random }), transaction }
    const secrets = { previous, next }
    const count = await rotateSecret(ports, secrets).catch(async (error) => {
      // After any other failure it stays: the commit may have succeeded although its answer was lost.
      if (!(error instanceof SecretReplaced)) throw error
      await rm(waiting, { force: true })
      throw new RefusedStart(error.message, { cause: error })
    })
    if (config.secret.kind === 'environment') return { path: waiting, count }
    const { path } = config.secret
    await placeWaitingSecret(waiting, path)
    return { path, count }
  } finally {
    await store.close()
  }
}
