/**
 * Edge routers call with the certificate of their connection and nothing else: D-42, D-116. It is judged like a certificate
 * login, at most once a second for each connection.
 */

import type { IdentityId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, seconds } from '../../../base/time/duration.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { Caller } from '../../audit/events.ts'
import type { PresentedChain } from '../../certificates/presented-chain.ts'
import type { ProvePrimary } from '../../login/prove-primary.ts'

/** Thrown: INVALID_AUTH, FORBIDDEN when the identity is no router. */
export type AuthenticateRouter = (
  chain: PresentedChain | undefined,
  caller: Caller,
) => Promise<IdentityId>

const KEPT_FOR: Duration = seconds(1)

export function createAuthenticateRouter(deps: {
  readonly clock: Pick<Clock, 'uptime'>
  readonly provePrimary: ProvePrimary
}): AuthenticateRouter {
  const { clock, provePrimary } = deps
  /** By the chain of a connection, which goes when the connection does. */
  const kept = new WeakMap<PresentedChain, { readonly id: IdentityId; readonly at: Duration }>()

  return async (chain, caller) => {
    const known = chain && kept.get(chain)
    if (known !== undefined && clock.uptime() - known.at < KEPT_FOR) return known.id
    const at = clock.uptime()
    const { identity } = await provePrimary({
      credential: { method: 'cert', chain },
      bearers: [],
      caller,
    })
    if (identity.type !== 'Router') throw new Failure('FORBIDDEN')
    if (chain !== undefined) kept.set(chain, { id: identity.id, at })
    return identity.id
  }
}
