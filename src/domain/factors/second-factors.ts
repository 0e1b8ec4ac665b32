/**
 * The closed registry of second factors. Demands, outstanding queries, `amr`, enrollments, sessions and stored rows read
 * it, so that a factor is added in one place: CONTRIBUTING, "a second factor". D-256, D-262.
 */
import type { IdentityId } from '../../base/ids.ts'
import {
  demandedChoices,
  type FactorChoice,
  SECOND_FACTOR_IDS,
  type SecondFactorId,
  unmetChoices,
} from '../../protocol/factors/second-factors.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { PasskeySetup } from './passkey/enroll-passkey.ts'
import { passkeyFactor } from './passkey/passkey-factor.ts'
import type { ChangeStores, EnrolledPorts, SecondFactor } from './second-factor.ts'
import type { TotpSetup } from './totp/enroll-totp.ts'
import { totpFactor } from './totp/totp-factor.ts'
import { withdrawing, withdrawResetWithin } from './withdraw-reset.ts'

/** What a user needs to enroll each factor. */
export interface FactorSetups {
  readonly totp: TotpSetup
  readonly passkey: PasskeySetup
}

const REGISTRY: { readonly [Id in SecondFactorId]: SecondFactor<FactorSetups[Id]> } = {
  totp: withdrawing(totpFactor),
  passkey: withdrawing(passkeyFactor),
}

/** In the order in which users are asked for them. */
export const ALL_SECOND_FACTORS: readonly SecondFactor[] = SECOND_FACTOR_IDS.map(secondFactor)

export function secondFactor<Id extends SecondFactorId>(id: Id): SecondFactor<FactorSetups[Id]> {
  return REGISTRY[id]
}

/** Returns what a policy demands and has not been proven: of each choice, one factor is missing. */
export function missingChoices(
  { secondary }: Pick<AuthPolicy, 'secondary'>,
  proven: ReadonlySet<SecondFactorId>,
): readonly FactorChoice[] {
  return unmetChoices(demandedChoices(secondary), (id) => proven.has(id))
}

/** Returns the factors that an identity has enrolled, in the order of the registry. */
export async function enrolledFactors(
  ports: EnrolledPorts,
  identityId: IdentityId,
): Promise<ReadonlySet<SecondFactorId>> {
  const enrolled = new Set<SecondFactorId>()
  for (const { id, isEnrolled } of ALL_SECOND_FACTORS) {
    if (await isEnrolled(ports, identityId)) enrolled.add(id)
  }
  return enrolled
}

/** Returns which of the identities have enrolled any second factor, with one query for each factor. */
export async function listWithAnyFactor(
  ports: EnrolledPorts,
  identityIds: readonly IdentityId[],
): Promise<ReadonlySet<IdentityId>> {
  const lists = await Promise.all(
    ALL_SECOND_FACTORS.map(({ listEnrolled }) => listEnrolled(ports, identityIds)),
  )
  return new Set(lists.flatMap((ids) => [...ids]))
}

/**
 * Removes every second factor of an identity with its recovery codes, and clears the failed attempts, so that they do
 * not block the next one. Withdraws the link that would have removed them (D-375). Returns the factors that were enrolled
 * or pending.
 */
export async function removeAllFactors(
  ports: AuditPorts,
  tx: ChangeStores,
  identityId: IdentityId,
  caller: Caller | undefined,
): Promise<readonly SecondFactorId[]> {
  const removed: SecondFactorId[] = []
  for (const { id, enrollment } of ALL_SECOND_FACTORS) {
    if (await enrollment.remove(tx, identityId)) removed.push(id)
  }
  await tx.codeGuesses.clear(identityId)
  await withdrawResetWithin(ports, tx, { method: 'reset-mfa', identityId }, caller)
  return removed
}
