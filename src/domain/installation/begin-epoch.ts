/**
 * What a restore ends. D-159, R042. The rows of a backup are in; whatever was spent or ended since then must not be good
 * again. Another hashing secret does most of it: no hash of before, no cursor of a router and no login that was begun
 * means anything under it. Signing keys, sessions and the like are in no backup.
 */

import { INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { recordEvent } from '../audit/record.ts'
import { lastAcceptedStep } from '../factors/totp.ts'
import type { Stores } from '../stores.ts'
import { ForeignDatabase, secretFingerprint, secretRecord } from './installation.ts'
import type { Epochs } from './stores.ts'

export interface NewEpoch {
  /** How many identities have an authenticator app, and no recovery codes beside it any more. */
  readonly withoutRecoveryCodes: number
}

/** In the transaction that wrote the rows. Thrown: ForeignDatabase, when they are of another secret. */
export async function beginEpoch(
  ports: AuditPorts,
  secret: Uint8Array,
  tx: Pick<Stores, 'installation' | 'events'>,
  epochs: Epochs,
  takenAt: Instant,
): Promise<NewEpoch> {
  const { clock, random } = ports
  const record = secretRecord(secret, random.bytes(INSTALLATION_SECRET_BYTES), random)
  const fingerprint = secretFingerprint(secret, random)
  if (!(await tx.installation.replaceSecret(fingerprint, record))) throw new ForeignDatabase()
  // Somebody may have seen a code that was taken a moment ago.
  const withoutRecoveryCodes = await epochs.burnSteps(lastAcceptedStep(clock.now()))
  const details = { takenAt: toRfc3339(takenAt), withoutRecoveryCodes }
  await tx.events.insert(recordEvent(ports, undefined, { type: 'installation.restored', details }))
  return { withoutRecoveryCodes }
}
