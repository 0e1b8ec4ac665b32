/**
 * Second factors in rows. TOTP has its own columns and members, because it came first; each further factor is in a
 * list. So rows of an earlier version can still be read, and a new factor needs no migration here.
 */
import { SECOND_FACTOR_IDS, type SecondFactorId } from '../../domain/factors/proven.ts'
import { listOf, oneOf, optional } from '../reading.ts'

type Factors = ReadonlySet<SecondFactorId>
type FurtherFactor = Exclude<SecondFactorId, 'totp'>

export const FURTHER_FACTORS = optional(listOf(oneOf(...SECOND_FACTOR_IDS)))

/** Undefined if there are none, so that the row is the same as before. */
export function furtherFactors(factors: Factors): readonly SecondFactorId[] | undefined {
  const further = [...factors].filter((id): id is FurtherFactor => id !== 'totp')
  return further.length === 0 ? undefined : further
}

export function factorsOf(hasTotp: boolean, further: readonly SecondFactorId[] = []): Factors {
  return new Set([...(hasTotp ? (['totp'] as const) : []), ...further])
}
