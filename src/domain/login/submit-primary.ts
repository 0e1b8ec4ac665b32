/**
 * A primary credential for an auth request. SPEC Auth request: accepted, it issues the code or leaves the request
 * partially authenticated; failed, it leaves the request as it was, to be tried again. `submitKept` goes on with a
 * credential that was accepted before and kept while the person fetched a demanded external JWT (D-156).
 */
import type { Secret } from '../../base/secrets/secret.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Events } from '../audit/stores.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import type { CheckSecondaryJwt } from '../factors/external-jwt.ts'
import type { ShownDevice } from '../factors/guessing/known-devices.ts'
import type { Accepted } from '../factors/verdict.ts'
import type { CheckAgain } from './check-again.ts'
import {
  checkDemandedJwt,
  type Demands,
  type FindDemands,
  outstandingQueries,
  secondaryJwtUnmet,
} from './demands.ts'
import type { KeptPrimary } from './external/kept-primary.ts'
import type { FinishStep, LoginStep } from './finish.ts'
import type { PrimaryCredential, ProvePrimary } from './prove-primary.ts'
import { NOTHING_SECONDARY, type ProvenSecondary } from './proven.ts'
import { acceptPrimary } from './request/auth-request.ts'
import { type OpenRequest, startAgain } from './request/find-request.ts'
import { freshSince } from './request/fresh-since.ts'
import { addConfigTypes } from './request/read-ask.ts'

export interface LoginSubmission {
  /** From `findRequest`, on this very call. */
  readonly request: OpenRequest
  readonly credential: PrimaryCredential
  readonly bearers: readonly Secret[]
  /** D-9: asked for in the login body, besides those of the authorization request. */
  readonly configTypes: readonly string[]
  readonly caller: Caller
  /** With a password (D-216). */
  readonly device?: ShownDevice
}

/** Thrown besides what a primary credential is refused with: JwtDemanded. */
export type SubmitPrimary = (submission: LoginSubmission) => Promise<LoginStep>

export type SubmitKept = (
  submission: Omit<LoginSubmission, 'credential' | 'configTypes'> & { readonly kept: KeptPrimary },
) => Promise<LoginStep>

/** D-14, with what a browser needs to go on: who can give the token, and what stands proven for it. */
export class JwtDemanded extends Failure {
  readonly signer: ExternalJwtSigner | undefined
  readonly kept: KeptPrimary

  constructor(unmet: Failure, signer: ExternalJwtSigner | undefined, kept: KeptPrimary) {
    super(unmet.code, {
      ...(unmet.detail === undefined ? {} : { detail: unmet.detail }),
      ...(unmet.challenges === undefined ? {} : { challenges: unmet.challenges }),
      ...(unmet.authQueries === undefined ? {} : { authQueries: unmet.authQueries }),
    })
    this.signer = signer
    this.kept = kept
  }
}

interface Dependencies {
  readonly brand: string
  readonly provePrimary: ProvePrimary
  readonly findDemands: FindDemands
  readonly checkSecondaryJwt: CheckSecondaryJwt
  readonly finishStep: FinishStep
  readonly events: Pick<Events, 'insert'>
  readonly recordEvent: RecordEvent
}

export function createSubmitPrimary(
  deps: Dependencies & { readonly clock: Pick<Clock, 'now'> },
): SubmitPrimary {
  return (submission) => submit(deps, submission, freshSince(submission.request, deps.clock.now()))
}

/**
 * For a JWT that the IdP sent over our own connection, with an ID token that has already proven how recent it is
 * (D-241).
 */
export function createSubmitReturned(deps: Dependencies): SubmitPrimary {
  return (submission) => submit(deps, submission, undefined)
}

async function submit(
  deps: Dependencies,
  { request, credential, bearers, configTypes, caller, device = {} }: LoginSubmission,
  since: Instant | undefined,
): Promise<LoginStep> {
  const allConfigTypes = addConfigTypes(request.ask.configTypes, configTypes)
  const accepted = await deps.provePrimary({ credential, bearers, since, caller, device })
  const submission = { request, accepted, bearers, configTypes: allConfigTypes, caller }
  return submitAccepted(deps, submission)
}

export function createSubmitKept(
  deps: Dependencies & { readonly checkAgain: CheckAgain },
): SubmitKept {
  return async ({ request, kept, bearers, caller }) => {
    const { primary, configTypes } = kept
    const owner = await deps.checkAgain(primary)
    if ('refusal' in owner) throw startAgain(owner.refusal)
    const accepted = { verdict: 'accepted', ...owner, primary } as const
    return submitAccepted(deps, { request, accepted, bearers, configTypes, caller })
  }
}

async function submitAccepted(
  deps: Dependencies,
  submission: Omit<LoginSubmission, 'credential'> & { readonly accepted: Accepted },
): Promise<LoginStep> {
  const { request, accepted, bearers, configTypes, caller } = submission
  const { identity, policy, primary } = accepted
  const demands = await deps.findDemands(identity, policy)
  const extJwt = await demandJwt(deps, {
    accepted,
    demands,
    bearers,
    caller,
    where: 'oidc',
  }).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error
    throw new JwtDemanded(error, demands.extJwt?.signer, { primary, configTypes })
  })
  const next = acceptPrimary(request, primary, extJwt, configTypes)
  const finished = { previous: request, next, demands, byEnrollment: false, caller }
  const step = await deps.finishStep(finished)
  if (step === 'taken') throw new Error('a primary login takes nothing')
  return accepted.device === undefined ? step : { ...step, device: accepted.device }
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
