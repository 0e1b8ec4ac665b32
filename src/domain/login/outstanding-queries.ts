/** What a login still has to prove, for GET /oidc/login/auth-queries. D-15: before the primary login, nothing is known. */
import type { AuthQuery } from '../../protocol/auth-query.ts'
import type { CheckAgain } from './check-again.ts'
import { type FindDemands, outstandingQueries } from './demands.ts'
import { type OpenRequest, startAgain } from './request/find-request.ts'

export type QueriesOf = (request: OpenRequest) => Promise<readonly AuthQuery[]>

export function createQueriesOf(deps: {
  readonly brand: string
  readonly checkAgain: CheckAgain
  readonly findDemands: FindDemands
}): QueriesOf {
  const { brand, checkAgain, findDemands } = deps
  return async (request) => {
    if (request.state === 'awaiting-primary') return []
    const owner = await checkAgain(request.primary)
    if ('refusal' in owner) throw startAgain(owner.refusal)
    const demands = await findDemands(owner.identity, owner.policy)
    return outstandingQueries(demands, request.secondary, { brand, where: 'oidc' })
  }
}
