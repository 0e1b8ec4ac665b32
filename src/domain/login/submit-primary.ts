/**
 * A primary credential for an auth request. SPEC Auth request: accepted, it issues the code or leaves the request
 * partially authenticated; failed, it leaves the request as it was, to be tried again.
 */
import type { Secret } from '../../base/secret.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Events } from '../audit/stores.ts'
import type { CheckSecondaryJwt } from '../factors/external-jwt.ts'
import type { Accepted } from '../factors/verdict.ts'
import { acceptPrimary } from './auth-request.ts'
import {
  checkDemandedJwt,
  type Demands,
  type FindDemands,
  outstandingQueries,
  secondaryJwtUnmet,
} from './demands.ts'
import type { OpenRequest } from './find-request.ts'
import type { FinishStep, LoginStep } from './finish.ts'
import type { PrimaryCredential, ProvePrimary } from './prove-primary.ts'
import { NOTHING_SECONDARY, type ProvenSecondary } from './proven.ts'
import { addConfigTypes } from './read-ask.ts'

export interface LoginSubmission {
  /** From `findRequest`, on this very call. */
  readonly request: OpenRequest
  readonly credential: PrimaryCredential
  readonly bearers: readonly Secret[]
  /** D-9: asked for in the login body, besides those of the authorization request. */
  readonly configTypes: readonly string[]
  readonly caller: Caller
}

export type SubmitPrimary = (submission: LoginSubmission) => Promise<LoginStep>

interface Dependencies {
  readonly brand: string
  readonly provePrimary: ProvePrimary
  readonly findDemands: FindDemands
  readonly checkSecondaryJwt: CheckSecondaryJwt
  readonly finishStep: FinishStep
  readonly events: Pick<Events, 'insert'>
  readonly recordEvent: RecordEvent
}

export function createSubmitPrimary(deps: Dependencies): SubmitPrimary {
  const { provePrimary, findDemands, finishStep } = deps

  return async ({ request, credential, bearers, configTypes, caller }) => {
    const allConfigTypes = addConfigTypes(request.ask.configTypes, configTypes)
    const accepted = await provePrimary({ credential, bearers, caller })
    const { identity, policy, primary } = accepted
    const demands = await findDemands(identity, policy)
    const extJwt = await demandJwt(deps, { accepted, demands, bearers, caller, where: 'oidc' })

    const next = acceptPrimary(request, primary, extJwt, allConfigTypes)
    const step = await finishStep({ previous: request, next, demands, byEnrollment: false, caller })
    if (step === 'taken') throw new Error('a primary login takes nothing')
    return step
  }
}

/** D-14: the signer whose demanded token came along; UNAUTHORIZED with challenge and queries when it did not. */
export async function demandJwt(
  deps: Pick<Dependencies, 'brand' | 'checkSecondaryJwt' | 'events' | 'recordEvent'>,
  login: {
    readonly accepted: Accepted
    readonly demands: Demands
    readonly bearers: readonly Secret[]
    readonly caller: Caller
    readonly where: 'oidc' | 'legacy'
  },
): Promise<ProvenSecondary['extJwt']> {
  const { brand } = deps
  const { accepted, demands, bearers, caller, where } = login
  const { identity, policy, primary } = accepted
  if (demands.extJwt === undefined) return undefined
  const { id: identityId, externalId } = identity
  const verdict = await checkDemandedJwt(
    demands.extJwt,
    { identityId, externalId },
    bearers,
    deps.checkSecondaryJwt,
  )
  if (verdict === 'satisfied') return policy.secondary.requireExtJwt
  const failed = deps.recordEvent(caller, {
    type: 'login.failed',
    identityId,
    reason: `secondary-jwt-${verdict}`,
    details: { method: primary.method },
  })
  await deps.events.insert(failed)
  const queries = outstandingQueries(demands, NOTHING_SECONDARY, { brand, where })
  throw secondaryJwtUnmet(brand, demands.extJwt, verdict, queries)
}
