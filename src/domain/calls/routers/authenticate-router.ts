/**
 * Edge routers authenticate only with the certificate of their connection: D-42, D-116. It is checked like a
 * certificate login, at most once a second for each connection.
 */

import type { IdentityId } from '../../../base/ids.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { Caller } from '../../audit/events.ts'
import type { PresentedChain } from '../../certificates/presented-chain.ts'
import { provePrimary } from '../../login/prove-primary.ts'
import type { CallPorts } from '../ports.ts'

/** Throws INVALID_AUTH, or FORBIDDEN if the identity is not a router. */
export async function authenticateRouter(
  ports: CallPorts,
  chain: PresentedChain | undefined,
  caller: Caller,
): Promise<IdentityId> {
  const { clock, provenRouters } = ports
  const known = chain && provenRouters.find(chain)
  if (known !== undefined) return known
  const at = clock.uptime()
  const credential = { method: 'cert', chain } as const
  const { identity } = await provePrimary(ports, { credential, bearers: [], caller })
  if (identity.type !== 'Router') throw new Failure('FORBIDDEN')
  if (chain !== undefined) provenRouters.keep(chain, identity.id, at)
  return identity.id
}
