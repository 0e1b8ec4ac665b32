/**
 * The closed registry of second factors. Demands, outstanding queries, `amr`, sessions and stored rows read it, so that
 * a factor is added in one place: CONTRIBUTING, "a second factor". D-256.
 */
import {
  demandedFactors,
  SECOND_FACTOR_IDS,
  type SecondFactorId,
} from '../../protocol/factors/second-factors.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { SecondFactor } from './second-factor.ts'
import { totpFactor } from './totp/totp.ts'

const REGISTRY: { readonly [Id in SecondFactorId]: SecondFactor } = { totp: totpFactor }

/** In the order in which users are asked for them. */
export const ALL_SECOND_FACTORS: readonly SecondFactor[] = SECOND_FACTOR_IDS.map(secondFactor)

export function secondFactor(id: SecondFactorId): SecondFactor {
  return REGISTRY[id]
}

/** Returns the factors that a policy demands and that have not been proven. */
export function missingFactors(
  { secondary }: Pick<AuthPolicy, 'secondary'>,
  proven: ReadonlySet<SecondFactorId>,
): readonly SecondFactorId[] {
  return demandedFactors(secondary).filter((id) => !proven.has(id))
}
