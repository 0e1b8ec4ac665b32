/** Rotation on command (D-23), beside or without a running instance. */

import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { seconds } from '../../base/time/duration.ts'
import type { Config } from '../../config/config.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import { awaitConfirmations } from '../../domain/sessions/confirming/confirmations.ts'
import { thingOf } from '../../domain/sessions/confirming/ending-id.ts'
import { type NewEnding, tellCopies } from '../../domain/sessions/ending/tell-copies.ts'
import { revokeOlderKeys, rotateKeys } from '../../domain/tokens/keys/rotate-keys.ts'
import type { NewKeys } from '../../domain/tokens/keys/signing-keys.ts'
import { showConfirmations } from '../../http/management-api/shown-confirmations.ts'
import { composeSigningKeys } from '../compose/compose.ts'
import { openPrepared } from './prepare.ts'

export interface RotatedKeys extends NewKeys {
  /** Who has confirmed that the older keys are withdrawn; undefined without `waitSeconds`. */
  readonly confirmations: ReturnType<typeof showConfirmations> | undefined
}

/** `older-keys`: the older keys are withdrawn immediately (D-135). */
export async function rotateSigningKeys(
  config: Config,
  revokes: 'nothing' | 'older-keys' = 'nothing',
  /** How long to wait until routers and running instances have confirmed it (D-381). */
  waitSeconds?: number,
): Promise<RotatedKeys> {
  const clock = systemClock
  const random = systemRandom
  const { store, vault } = await openPrepared(config, random)
  try {
    const signingKeys = composeSigningKeys({ config, store, vault, clock })
    const endings: NewEnding[] = []
    // This process has no copies in memory; it only collects what the transaction ends.
    const transaction = tellCopies(store.transaction, {
      endedSessions: { add: (ending) => endings.push(ending) },
      rules: { refresh: async () => {} },
    })
    const ports = { ...auditPorts({ clock, random }), signingKeys, transaction }
    const rotate = revokes === 'nothing' ? rotateKeys : revokeOlderKeys
    const keys = await rotate(ports, undefined)
    const ended = waitSeconds === undefined ? undefined : thingOf(endings)
    const confirmations =
      ended && (await awaitConfirmations({ ...store, clock }, ended, seconds(waitSeconds ?? 0)))
    return { ...keys, confirmations: confirmations && showConfirmations(confirmations) }
  } finally {
    await store.close()
  }
}
