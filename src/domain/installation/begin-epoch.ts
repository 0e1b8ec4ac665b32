/**
 * What a restore ends. D-159, R042. The rows of a backup are in; whatever was spent or ended since then must not be good
 * again. Another hashing secret does most of it: no hash of before, no cursor of a router and no login that was begun
 * means anything under it. Signing keys, sessions and the like are in no backup.
 */

import type { Random } from '../../base/secrets/random.ts'
import { INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import type { RecordEvent } from '../audit/record.ts'
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
  deps: {
    readonly secret: Uint8Array
    readonly clock: Clock
    readonly random: Random
    readonly recordEvent: RecordEvent
  },
  tx: Pick<Stores, 'installation' | 'events'>,
  epochs: Epochs,
  takenAt: Instant,
): Promise<NewEpoch> {
  const { secret, clock, random, recordEvent } = deps
  const record = secretRecord(secret, random.bytes(INSTALLATION_SECRET_BYTES), random)
  const fingerprint = secretFingerprint(secret, random)
  if (!(await tx.installation.replaceSecret(fingerprint, record))) throw new ForeignDatabase()
  // Somebody may have seen a code that was taken a moment ago.
  const withoutRecoveryCodes = await epochs.burnSteps(lastAcceptedStep(clock.now()))
  const details = { takenAt: toRfc3339(takenAt), withoutRecoveryCodes }
  await tx.events.insert(recordEvent(undefined, { type: 'installation.restored', details }))
  return { withoutRecoveryCodes }
}
