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
  passkey: {
    /** D-433: a key was proven. Not `swk`, which means a certificate here, and not `hwk`, which nothing attests. */
    amr: 'pop',
    demandedBy: 'requirePasskey',
    isAlwaysStated: false,
  },
} as const satisfies Readonly<Record<string, SecondFactorFacts>>

interface SecondFactorFacts {
  readonly amr: string
  readonly demandedBy: `require${string}`
  readonly isAlwaysStated: boolean
}

export type SecondFactorId = keyof typeof SECOND_FACTORS

export const SECOND_FACTOR_IDS = Object.keys(SECOND_FACTORS) as readonly SecondFactorId[]

/**
 * The members of a policy that any one of several factors satisfies. Each names its factors, so that a further factor
 * never weakens an existing policy (D-432).
 */
const ALTERNATIVES = {
  requireTotpOrPasskey: ['totp', 'passkey'],
} as const satisfies Readonly<Record<`require${string}`, readonly SecondFactorId[]>>

/** Which second factors a policy demands, by the names of its members. */
export type FactorDemands = Readonly<Record<DemandingMember, boolean>>

export type DemandingMember =
  | (typeof SECOND_FACTORS)[SecondFactorId]['demandedBy']
  | keyof typeof ALTERNATIVES

/** A demand is met once one of these factors is proven. */
export type FactorChoice = readonly SecondFactorId[]

interface MemberFacts {
  readonly isAlwaysStated: boolean
  readonly choice: FactorChoice
}

const MEMBERS: ReadonlyMap<DemandingMember, MemberFacts> = new Map<DemandingMember, MemberFacts>([
  ...SECOND_FACTOR_IDS.map((id) => {
    const { demandedBy, isAlwaysStated } = SECOND_FACTORS[id]
    return [demandedBy, { isAlwaysStated, choice: [id] }] as const
  }),
  ...Object.entries(ALTERNATIVES).map(
    ([member, choice]) => [member as DemandingMember, { isAlwaysStated: false, choice }] as const,
  ),
])

/** Returns an object with a value for each member of a policy that demands a factor. */
export function eachDemand<T>(
  value: (member: DemandingMember, facts: MemberFacts) => T,
): Readonly<Record<DemandingMember, T>> {
  const members = [...MEMBERS].map(([member, facts]) => [member, value(member, facts)])
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

/**
 * Returns what a policy demands, in the order in which users are asked for it: of each choice, one factor must be
 * proven. A choice that contains another one adds nothing and is left out.
 */
export function demandedChoices(demands: FactorDemands): readonly FactorChoice[] {
  return withoutImplied(
    [...MEMBERS].flatMap(([member, { choice }]) => (demands[member] ? [choice] : [])),
  )
}

/** Leaves out each choice that is met as soon as another one is, and repeated ones. */
export function withoutImplied(choices: readonly FactorChoice[]): readonly FactorChoice[] {
  return choices.filter(
    (choice, at) =>
      !choices.some(
        (other, i) =>
          other.every((id) => choice.includes(id)) &&
          (other.length < choice.length || (other.length === choice.length && i < at)),
      ),
  )
}

/** Returns the factors of those choices of which none is proven, in the order in which users are asked for them. */
export function unmetFactors(
  choices: readonly FactorChoice[],
  isProven: (id: SecondFactorId) => boolean,
): readonly SecondFactorId[] {
  const open = new Set(unmetChoices(choices, isProven).flat())
  return SECOND_FACTOR_IDS.filter((id) => open.has(id))
}

/** Returns those choices of which no factor is proven. */
export function unmetChoices(
  choices: readonly FactorChoice[],
  isProven: (id: SecondFactorId) => boolean,
): readonly FactorChoice[] {
  return choices.filter((choice) => !choice.some(isProven))
}
