/** Rotation on command (D-23), beside or without a running instance. */

import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import { revokeOlderKeys, rotateKeys } from '../../domain/tokens/keys/rotate-keys.ts'
import type { NewKeys } from '../../domain/tokens/keys/signing-keys.ts'
import { composeSigningKeys } from '../compose/compose.ts'
import { openPrepared } from './prepare.ts'

/** `older-keys`: the older keys are withdrawn immediately (D-135). */
export async function rotateSigningKeys(
  config: Config,
  revokes: 'nothing' | 'older-keys' = 'nothing',
): Promise<NewKeys> {
  const clock = systemClock
  const random = systemRandom
  const { store, vault } = await openPrepared(config, random)
  try {
    const signingKeys = composeSigningKeys({ config, store, vault, clock })
    const { transaction } = store
    const ports = { ...auditPorts({ clock, random }), signingKeys, transaction }
    const rotate = revokes === 'nothing' ? rotateKeys : revokeOlderKeys
    return await rotate(ports, undefined)
  } finally {
    await store.close()
  }
}
