/** Rotation on command (D-23), beside or without a running instance. */
import { systemClock } from '../base/clock.ts'
import { systemRandom } from '../base/random.ts'
import type { Config } from '../config/config.ts'
import { createRecordEvent } from '../domain/audit/record.ts'
import type { StoredSigningKey } from '../domain/tokens/signing-key.ts'
import { composeSigningKeys } from './compose.ts'
import { openPrepared } from './prepare.ts'

export async function rotateSigningKey(config: Config): Promise<StoredSigningKey> {
  const clock = systemClock
  const random = systemRandom
  const { store, vault } = await openPrepared(config, random)
  try {
    const signingKeys = composeSigningKeys({ config, store, vault, clock })
    // Undefined: another instance rotated at this very moment. The caller asked for a key after that one.
    const key = (await signingKeys.rotate()) ?? (await signingKeys.rotate())
    if (key === undefined) throw new Error('other instances keep rotating the keys; try again')
    const recordEvent = createRecordEvent({ clock, random })
    await store.events.insert(
      recordEvent(undefined, { type: 'signing-key.created', details: { kid: key.kid } }),
    )
    return key
  } finally {
    await store.close()
  }
}
