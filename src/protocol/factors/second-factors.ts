/**
 * The second factors that a user proves in a step of their own: what travels about each of them. The rest of a factor is
 * in `domain/factors/second-factors.ts`. The external JWT that a policy can demand is not among them: it comes along with
 * every request, and counts by its signer (D-14, D-256).
 */
export const SECOND_FACTORS = {
  totp: {
    /** RFC 8176: what `amr` says once it is proven, by a code or by a recovery code. */
    amr: 'otp',
    /** The member of a policy that demands it. */
    demandedBy: 'requireTotp',
  },
} as const

export type SecondFactorId = keyof typeof SECOND_FACTORS

export const SECOND_FACTOR_IDS = Object.keys(SECOND_FACTORS) as readonly SecondFactorId[]

/** Which second factors a policy demands, by the names of its members. */
export type FactorDemands = Readonly<
  Record<(typeof SECOND_FACTORS)[SecondFactorId]['demandedBy'], boolean>
>

/** What a policy does not mention, it does not demand. */
export function factorDemands(
  given: {
    readonly [Name in keyof FactorDemands]?: boolean | undefined
  },
): FactorDemands {
  const members = Object.values(SECOND_FACTORS).map(({ demandedBy }) => [
    demandedBy,
    given[demandedBy] ?? false,
  ])
  return Object.fromEntries(members)
}

/** Returns the factors that are demanded, in the order in which they are asked for. */
export function demandedFactors(demands: FactorDemands): readonly SecondFactorId[] {
  return SECOND_FACTOR_IDS.filter((id) => demands[SECOND_FACTORS[id].demandedBy])
}
