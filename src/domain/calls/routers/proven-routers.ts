/** Authenticated routers, by the chain of their connection: a result is reused for one second (D-116). */
import type { IdentityId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, seconds } from '../../../base/time/duration.ts'
import type { PresentedChain } from '../../certificates/presented-chain.ts'

export interface ProvenRouters {
  find(chain: PresentedChain): IdentityId | undefined
  /** `at`: the uptime before the check began. */
  keep(chain: PresentedChain, id: IdentityId, at: Duration): void
}

const KEPT_FOR: Duration = seconds(1)

export function createProvenRouters({
  clock,
}: {
  readonly clock: Pick<Clock, 'uptime'>
}): ProvenRouters {
  /** An entry is removed with its connection. */
  const entries = new WeakMap<PresentedChain, { readonly id: IdentityId; readonly at: Duration }>()
  return {
    find(chain) {
      const entry = entries.get(chain)
      return entry !== undefined && clock.uptime() - entry.at < KEPT_FOR ? entry.id : undefined
    },
    keep: (chain, id, at) => void entries.set(chain, { id, at }),
  }
}
