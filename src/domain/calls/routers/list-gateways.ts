/** The gateways of the network, for everyone who has signed in: which names there are, and where each is reached. D-425. */
import type { Clock } from '../../../base/time/clock.ts'
import { isDisabled } from '../../identities/identity.ts'
import type { RouterPlace } from '../../identities/router-hosts.ts'
import type { Rules } from '../../policies/rules.ts'

/** Returns routers that are enabled and have a host, by name. */
export function listGateways(ports: {
  readonly rules: Pick<Rules, 'routers'>
  readonly clock: Pick<Clock, 'now'>
}): readonly Pick<RouterPlace, 'id' | 'name' | 'hosts'>[] {
  const now = ports.clock.now()
  return ports.rules
    .routers()
    .filter((router) => !isDisabled(router, now))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
