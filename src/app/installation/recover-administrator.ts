/** Restores access on command (D-49), with or without running instances. */

import { systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import { createPasswordHashing } from '../../domain/factors/passwords/hashing.ts'
import {
  type Recovery,
  recoverAdministrator,
} from '../../domain/installation/recover-administrator.ts'
import { createHashingTurns } from '../compose/limits.ts'
import { drawPassword, type HandOver, openPrepared } from './prepare.ts'

export type { Recovery }

/** Sets a newly generated password. `wanted` is a name or an id. */
export async function recoverOnCommand(
  config: Config,
  wanted: string | undefined,
  handOver: HandOver,
): Promise<Recovery> {
  const clock = systemClock
  const random = systemRandom
  const { store } = await openPrepared(config, random)
  try {
    const ports = {
      ...auditPorts({ clock, random }),
      accessTokenLife: config.tokens.accessTokenDuration,
      transaction: store.transaction,
      hashing: createPasswordHashing({ random, turns: createHashingTurns(config) }),
    }
    const password = drawPassword(random)
    let recovery: Recovery = { outcome: 'unknown' }
    await handOver(password, async (storePassword) => {
      recovery = await recoverAdministrator(ports, wanted, password, storePassword)
      return 'username' in recovery ? recovery.username : undefined
    })
    return recovery
  } finally {
    await store.close()
  }
}
