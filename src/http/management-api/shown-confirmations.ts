/** Who has confirmed an end, as the management API and the command line show it: D-382. */
import { toRfc3339 } from '../../base/time/instant.ts'
import type { Confirmations } from '../../contract/management/confirmations.ts'
import type * as confirming from '../../domain/sessions/confirming/confirmations.ts'
import { timeOrNull } from '../edge-api/answers.ts'

export function showConfirmations(state: confirming.Confirmations): Confirmations {
  return {
    outcome: state.outcome,
    endedAt: toRfc3339(state.endedAt),
    certainAt: toRfc3339(state.certainAt),
    routers: state.routers.map((one) => ({
      id: one.routerId,
      name: one.name ?? null,
      state: one.state,
      confirmedAt: timeOrNull(one.confirmedAt),
      lastContactAt: toRfc3339(one.contactAt),
      refusesAt: timeOrNull(one.refusesAt),
    })),
    instances: state.instances.map((one) => ({
      id: one.id,
      host: one.host,
      state: one.state,
      confirmedAt: timeOrNull(one.confirmedAt),
      refusesAt: timeOrNull(one.refusesAt),
    })),
  }
}
