/**
 * Decides which second factors a login needs, and which are still outstanding. SPEC Authentication 3; D-14, D-15, D-16.
 * OIDC logins, legacy sessions and later checks all use it.
 */
import { Failure } from '../../errors/catalogue.ts'
import { type AuthQuery, extJwtQuery } from '../../protocol/auth-query.ts'
import { secondaryExtJwt } from '../../protocol/challenge.ts'
import {
  demandedChoices,
  type FactorChoice,
  type SecondFactorId,
  unmetFactors,
  withoutImplied,
} from '../../protocol/factors/second-factors.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import type { SecondaryJwtVerdict } from '../factors/external-jwt.ts'
import type { ProvenSecondary } from '../factors/proven.ts'
import type { EnrolledPorts, QueryPlace } from '../factors/second-factor.ts'
import { enrolledFactors, missingChoices, secondFactor } from '../factors/second-factors.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { Rules } from '../policies/rules.ts'
import type { LoginPorts } from './ports.ts'

/** What the policy and the enrollment of an identity demand now. */
export interface Demands {
  /** Of each choice, one factor must be proven. */
  readonly choices: readonly FactorChoice[]
  /** The second factors that the identity is able to prove. */
  readonly enrolled: ReadonlySet<SecondFactorId>
  readonly extJwt: DemandedSigner | undefined
}

/** `signer` is undefined if the policy names one that was deleted: then the demand cannot be satisfied. */
export interface DemandedSigner {
  readonly id: string
  readonly signer: ExternalJwtSigner | undefined
}

export async function findDemands(
  ports: EnrolledPorts & Pick<LoginPorts, 'rules'>,
  identity: Identity,
  policy: AuthPolicy,
  stepUp: FactorChoice | undefined,
): Promise<Demands> {
  const enrolled = await enrolledFactors(ports, identity.id)
  const choices = choicesOf(policy, stepUp, enrolled)
  return { choices, enrolled, extJwt: demandedSigner(policy, ports.rules) }
}

/**
 * D-16, D-432, D-460: what the policy and the client demand, and one of the factors that the identity has enrolled,
 * whether or not anything demands it. Where a demand leaves a choice, only an enrolled factor counts: otherwise a stolen password
 * would be enough to enroll the other one.
 */
function choicesOf(
  policy: AuthPolicy,
  stepUp: FactorChoice | undefined,
  enrolled: ReadonlySet<SecondFactorId>,
): readonly FactorChoice[] {
  const asked = stepUp === undefined ? [] : [stepUp]
  const demanded = [...demandedChoices(policy.secondary), ...asked].map((choice) => {
    const able = choice.filter((id) => enrolled.has(id))
    return able.length === 0 ? choice : able
  })
  return withoutImplied(enrolled.size === 0 ? demanded : [[...enrolled], ...demanded])
}

export function demandedSigner(
  { secondary }: AuthPolicy,
  rules: Pick<Rules, 'signer'>,
): DemandedSigner | undefined {
  const id = secondary.requireExtJwt
  return id === undefined ? undefined : { id, signer: rules.signer(id) }
}

/** Returns the demanded signer whose token was not presented on this login. Check it before finishing a login. */
export function unprovenSigner(
  { extJwt }: Pick<Demands, 'extJwt'>,
  proven: ProvenSecondary,
): DemandedSigner | undefined {
  return extJwt !== undefined && proven.extJwt !== extJwt.id ? extJwt : undefined
}

/** Returns the queries for what `proven` leaves outstanding; empty if nothing is. */
export function outstandingQueries(
  demands: Demands,
  proven: ProvenSecondary,
  { brand, where }: { readonly brand: string; readonly where: QueryPlace },
): readonly AuthQuery[] {
  const open = unmetFactors(demands.choices, (id) => proven.factors.has(id))
  const signer = unprovenSigner(demands, proven)?.signer
  return [
    ...open.map((id) => secondFactor(id).query(brand, where, demands.enrolled.has(id))),
    ...(signer === undefined ? [] : [extJwtQuery(signer)]),
  ]
}

/** Whether the policy now demands more than a finished login proved (D-27, D-52). */
export function isShortOf(policy: AuthPolicy, proven: ProvenSecondary): boolean {
  const { requireExtJwt } = policy.secondary
  const isJwtMissing = requireExtJwt !== undefined && requireExtJwt !== proven.extJwt
  return isJwtMissing || missingChoices(policy, proven.factors).length > 0
}

/** SPEC Authentication 5: blocks the login, with the challenge that names the signer. */
export function secondaryJwtUnmet(
  brand: string,
  { signer }: DemandedSigner,
  fault: Exclude<SecondaryJwtVerdict, 'satisfied'>,
  authQueries: readonly AuthQuery[],
): Failure {
  const detail = `the secondary external JWT is ${fault}`
  return new Failure('UNAUTHORIZED', {
    authQueries,
    detail,
    ...(signer === undefined ? {} : { challenges: [secondaryExtJwt(brand, fault, signer)] }),
  })
}
