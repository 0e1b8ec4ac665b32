/**
 * The second factors: what travels about each of them. The rest of a factor is in `domain/factors/second-factors.ts`.
 * D-256, D-262.
 */
export const SECOND_FACTORS = {
  totp: {
    /** RFC 8176: what `amr` says once it is proven, by a code or by a recovery code. */
    amr: 'otp',
    /** The member of a policy that demands it, in the API, in stored policies and in the feed of routers. */
    demandedBy: 'requireTotp',
    /** Every stored policy and every controller states it. Of later factors a missing member means: not demanded. */
    isAlwaysStated: true,
  },
} as const satisfies Readonly<Record<string, SecondFactorFacts>>

interface SecondFactorFacts {
  readonly amr: string
  readonly demandedBy: `require${string}`
  readonly isAlwaysStated: boolean
}

export type SecondFactorId = keyof typeof SECOND_FACTORS

export const SECOND_FACTOR_IDS = Object.keys(SECOND_FACTORS) as readonly SecondFactorId[]

/** Which second factors a policy demands, by the names of its members. */
export type FactorDemands = Readonly<Record<DemandingMember, boolean>>

export type DemandingMember = (typeof SECOND_FACTORS)[SecondFactorId]['demandedBy']

/** Returns an object with a value for each member of a policy that demands a factor. */
export function eachDemand<T>(
  value: (member: DemandingMember, facts: SecondFactorFacts) => T,
): Readonly<Record<DemandingMember, T>> {
  const members = Object.values(SECOND_FACTORS).map((facts) => [
    facts.demandedBy,
    value(facts.demandedBy, facts),
  ])
  return Object.fromEntries(members)
}

/** What a policy does not mention, it does not demand. */
export function factorDemands(
  given: { readonly [Name in DemandingMember]?: boolean | undefined },
): FactorDemands {
  return eachDemand((member) => given[member] ?? false)
}

/** Returns undefined for a policy, stored or sent, that does not say what it must about its factors. */
export function parseFactorDemands(
  members: Readonly<Record<string, unknown>>,
): FactorDemands | undefined {
  const demands = eachDemand((member, { isAlwaysStated }) => {
    const value = members[member] ?? (isAlwaysStated ? undefined : false)
    return typeof value === 'boolean' ? value : undefined
  })
  const isWhole = Object.values(demands).every((value) => value !== undefined)
  return isWhole ? (demands as FactorDemands) : undefined
}

/** Returns the factors that are demanded, in the order in which they are asked for. */
export function demandedFactors(demands: FactorDemands): readonly SecondFactorId[] {
  return SECOND_FACTOR_IDS.filter((id) => demands[SECOND_FACTORS[id].demandedBy])
}
