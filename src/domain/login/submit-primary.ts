/**
 * Submits a primary credential for an auth request. SPEC Auth request: if it is accepted, the code is issued or the
 * request becomes partially authenticated; if it fails, the request is unchanged and the user can try again.
 * `submitKept` continues with a credential that was accepted earlier and kept while the user fetched a demanded
 * external JWT (D-156). What that credential spends was spent when it was kept.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { ClockOff } from '../audit/clock-off.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { record } from '../audit/record.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import { checkSecondaryJwt } from '../factors/external-jwt.ts'
import { NOTHING_SECONDARY, type ProvenSecondary } from '../factors/proven.ts'
import type { Accepted } from '../factors/verdict.ts'
import { checkAgain } from './check-again.ts'
import { type Demands, findDemands, outstandingQueries, secondaryJwtUnmet } from './demands.ts'
import { type KeptPrimary, type PrimaryToKeep, usedBefore } from './external/kept-primary.ts'
import { finishStep, type LoginStep } from './finish.ts'
import type { LoginPorts } from './ports.ts'
import { type PrimarySubmission, provePrimary } from './prove-primary.ts'
import { acceptPrimary } from './request/auth-request.ts'
import { type OpenRequest, startAgain } from './request/find-request.ts'
import { freshSince } from './request/fresh-since.ts'
import { addConfigTypes } from './request/read-ask.ts'

export interface LoginSubmission extends Omit<PrimarySubmission, 'since'> {
  /** From `findRequest`, in the same call. */
  readonly request: OpenRequest
  /** D-9: requested in the login body, in addition to those of the authorization request. */
  readonly configTypes: readonly string[]
  /**
   * The JWT is one that the IdP sent over our own connection, with an ID token that has already proven how recent it is
   * (D-241): `prompt=login` and `max_age` are not checked again.
   */
  readonly isReturned?: true
}

export type KeptSubmission = Omit<LoginSubmission, 'credential' | 'configTypes' | 'isReturned'> & {
  readonly kept: KeptPrimary
}

/** D-14, with what a browser needs to continue: who can issue the token, and what has been proven so far. */
export class JwtDemanded extends Failure {
  readonly signer: ExternalJwtSigner | undefined
  readonly kept: KeptPrimary
  /** Of the primary credential. Nothing has been spent yet; `keepPrimary` does it. */
  readonly take: Accepted['take']

  constructor(
    unmet: Failure,
    signer: ExternalJwtSigner | undefined,
    { kept, take }: PrimaryToKeep,
  ) {
    super(unmet.code, {
      ...(unmet.detail === undefined ? {} : { detail: unmet.detail }),
      ...(unmet.challenges === undefined ? {} : { challenges: unmet.challenges }),
      ...(unmet.authQueries === undefined ? {} : { authQueries: unmet.authQueries }),
    })
    this.signer = signer
    this.kept = kept
    this.take = take
  }
}

/** Throws JwtDemanded, and the failures of a refused primary credential. */
export async function submitPrimary(
  ports: LoginPorts,
  { request, credential, bearers, configTypes, caller, device = {}, isReturned }: LoginSubmission,
): Promise<LoginStep> {
  const allConfigTypes = addConfigTypes(request.ask.configTypes, configTypes)
  const since = isReturned ? undefined : freshSince(request, ports.clock.now())
  const accepted = await provePrimary(ports, { credential, bearers, since, caller, device })
  const submission = { request, accepted, bearers, configTypes: allConfigTypes, caller }
  return submitAccepted(ports, submission)
}

export async function submitKept(
  ports: LoginPorts,
  { request, kept, bearers, caller }: KeptSubmission,
): Promise<LoginStep> {
  const { primary, configTypes } = kept
  const owner = await checkAgain(ports, primary)
  if ('refusal' in owner) throw startAgain(owner.refusal)
  const accepted = { verdict: 'accepted', ...owner, primary } as const
  return submitAccepted(ports, { request, accepted, bearers, configTypes, caller })
}

async function submitAccepted(
  ports: LoginPorts,
  submission: Omit<LoginSubmission, 'credential' | 'device' | 'isReturned'> & {
    readonly accepted: Accepted
  },
): Promise<LoginStep> {
  const { request, accepted, bearers, configTypes, caller } = submission
  const { identity, policy, primary, take } = accepted
  const demands = await findDemands(ports, identity, policy, request.ask.stepUp)
  const extJwt = await demandJwt(ports, {
    accepted,
    demands,
    bearers,
    caller,
    where: 'oidc',
  }).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error
    const kept = { primary, configTypes }
    throw new JwtDemanded(error, demands.extJwt?.signer, { kept, take })
  })
  const next = acceptPrimary(request, primary, extJwt, configTypes)
  const step = await finishStep(ports, { previous: request, next, demands, caller, take })
  if (step === 'taken') throw usedBefore()
  return accepted.device === undefined ? step : { ...step, device: accepted.device }
}

/** D-14: returns the signer whose demanded token came along; throws UNAUTHORIZED with challenge and queries if none did. */
export async function demandJwt(
  ports: Pick<LoginPorts, keyof AuditPorts | 'brand' | 'signerKeys' | 'events'>,
  login: {
    readonly accepted: Accepted
    readonly demands: Demands
    readonly bearers: readonly Secret[]
    readonly caller: Caller
    readonly where: 'oidc' | 'legacy'
  },
): Promise<ProvenSecondary['extJwt']> {
  const { brand } = ports
  const { accepted, demands, bearers, caller, where } = login
  const { identity, policy, primary } = accepted
  if (demands.extJwt === undefined) return undefined
  const { id: identityId, externalId } = identity
  const owner = { identityId, externalId }
  let clock: ClockOff | undefined
  const verdict = await checkSecondaryJwt(ports, demands.extJwt.signer, owner, bearers, (off) => {
    clock = off
  })
  if (verdict === 'satisfied') return policy.secondary.requireExtJwt
  await record(ports, ports, caller, {
    type: 'login.failed',
    identityId,
    reason: `secondary-jwt-${verdict}`,
    details: { method: primary.method, ...(clock === undefined ? {} : { clock }) },
  })
  const queries = outstandingQueries(demands, NOTHING_SECONDARY, { brand, where })
  throw secondaryJwtUnmet(brand, demands.extJwt, verdict, queries)
}
