/** A way back in, on command (D-49), beside or without running instances. */

import { systemRandom } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import { auditPorts } from '../../domain/audit/ports.ts'
import { createRecordEvent } from '../../domain/audit/record.ts'
import {
  type Recovery,
  recoverAdministrator,
} from '../../domain/installation/recover-administrator.ts'
import {
  type EndSessionsWithin,
  endSessionsWithin as endWith,
} from '../../domain/sessions/ending/end-session.ts'
import { composeHashing, drawPassword, openPrepared } from './prepare.ts'

export type { Recovery }

/** With a password that was drawn for it, and that is known nowhere else. `wanted` is a name or an id. */
export async function recoverOnCommand(
  config: Config,
  wanted: string | undefined,
): Promise<{ readonly recovery: Recovery; readonly password: Secret }> {
  const clock = systemClock
  const random = systemRandom
  const { store } = await openPrepared(config, random)
  try {
    const recordEvent = createRecordEvent({ clock, random })
    const ending = {
      ...auditPorts({ clock, random }),
      accessTokenLife: config.tokens.accessTokenDuration,
      // Nobody is served here; running instances read the ends from the database.
      endedSessions: { add() {} },
    }
    const endSessionsWithin: EndSessionsWithin = (...given) => endWith(ending, ...given)
    const { transaction } = store
    const hashing = composeHashing(config, random)
    const needs = { transaction, hashing, clock, random, recordEvent, endSessionsWithin }
    const password = drawPassword(random)
    return { recovery: await recoverAdministrator(needs, wanted, password), password }
  } finally {
    await store.close()
  }
}
