/** What a login still has to prove, for GET /oidc/login/auth-queries. D-15: empty before the primary login. */
import type { AuthQuery } from '../../protocol/auth-query.ts'
import type { EnrolledPorts } from '../factors/second-factor.ts'
import { checkAgain } from './check-again.ts'
import { findDemands, outstandingQueries } from './demands.ts'
import type { LoginPorts } from './ports.ts'
import { type OpenRequest, startAgain } from './request/find-request.ts'

export async function queriesOf(
  ports: EnrolledPorts &
    Pick<LoginPorts, 'brand' | 'identities' | 'authenticators' | 'rules' | 'clock'>,
  request: OpenRequest,
): Promise<readonly AuthQuery[]> {
  if (request.state === 'awaiting-primary') return []
  const owner = await checkAgain(ports, request.primary)
  if ('refusal' in owner) throw startAgain(owner.refusal)
  const demands = await findDemands(ports, owner.identity, owner.policy, request.ask.stepUp)
  const { brand } = ports
  return outstandingQueries(demands, request.secondary, { brand, where: 'oidc' })
}
