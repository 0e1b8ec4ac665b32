/**
 * Invalidates what a restore must not bring back. D-159, R042. After the rows of a backup are written, anything spent
 * or ended since the backup must not become valid again. A new hashing secret does most of it: earlier hashes, router
 * cursors and logins in progress are invalid under it. Signing keys, sessions and the like are not in backups.
 */

import { INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { record } from '../audit/record.ts'
import { lastAcceptedStep } from '../factors/totp/totp.ts'
import type { Stores } from '../stores.ts'
import { ForeignDatabase, secretFingerprint, secretRecord } from './installation.ts'
import type { Epochs } from './stores.ts'

export interface NewEpoch {
  /** How many identities have an authenticator app that no longer has recovery codes. */
  readonly withoutRecoveryCodes: number
}

/** Call it in the transaction that wrote the rows. Throws ForeignDatabase if they belong to another secret. */
export async function beginEpoch(
  ports: AuditPorts,
  secret: Uint8Array,
  tx: Pick<Stores, 'installation' | 'events'>,
  epochs: Epochs,
  takenAt: Instant,
): Promise<NewEpoch> {
  const { clock, random } = ports
  const secrets = secretRecord(secret, random.bytes(INSTALLATION_SECRET_BYTES), random)
  const fingerprint = secretFingerprint(secret, random)
  if (!(await tx.installation.replaceSecret(fingerprint, secrets))) throw new ForeignDatabase()
  // An attacker may have seen a code that was accepted a moment ago.
  const withoutRecoveryCodes = await epochs.burnSteps(lastAcceptedStep(clock.now()))
  const details = { takenAt: toRfc3339(takenAt), withoutRecoveryCodes }
  await record(ports, tx, undefined, { type: 'installation.restored', details })
  return { withoutRecoveryCodes }
}
