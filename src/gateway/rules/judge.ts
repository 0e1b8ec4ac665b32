/**
 * Who may pass to an upstream: compares its requirements with what is known about a caller. D-403. A fact that the
 * controller did not send counts as missing. The first unmet requirement is the reason; those that the caller cannot
 * change come first, so that no user signs in again in vain.
 */
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import { SECOND_FACTORS } from '../../protocol/factors/second-factors.ts'
import type { Requirements } from '../settings/settings.ts'

export interface Caller {
  readonly identityId: string
  /** Those that it has now; undefined if the controller did not send them. */
  readonly roles: readonly string[] | undefined
  readonly policyId: string | undefined
  readonly amr: readonly string[] | undefined
  readonly authenticatedAt: Instant | undefined
}

/** The requirement that is not met. `isUnknown`: the controller did not send the fact that it depends on. */
export type Unmet = {
  readonly [Rule in keyof Requirements]-?: {
    readonly rule: Rule
    /** What would be enough; for `amr`, those values that are missing. */
    readonly required: NonNullable<Requirements[Rule]>
    readonly isUnknown: boolean
  }
}[keyof Requirements]

/** Returns undefined if the caller may pass. */
export function unmetRequirement(
  { identities, policies, roles, amr, maxAge }: Requirements,
  caller: Caller,
  now: Instant,
): Unmet | undefined {
  if (identities !== undefined && !identities.includes(caller.identityId)) {
    return { rule: 'identities', required: identities, isUnknown: false }
  }
  const { policyId, roles: held, authenticatedAt } = caller
  if (policies !== undefined && !(policyId !== undefined && policies.includes(policyId))) {
    return { rule: 'policies', required: policies, isUnknown: policyId === undefined }
  }
  if (roles !== undefined && !held?.some((role) => roles.includes(role))) {
    return { rule: 'roles', required: roles, isUnknown: held === undefined }
  }
  const missing = amr?.filter((method) => !caller.amr?.includes(amrValue(method))) ?? []
  if (missing.length > 0) {
    return { rule: 'amr', required: missing, isUnknown: caller.amr === undefined }
  }
  if (maxAge !== undefined && !isRecent(authenticatedAt, maxAge, now)) {
    return { rule: 'maxAge', required: maxAge, isUnknown: authenticatedAt === undefined }
  }
  return undefined
}

/** Operators may write the name of a second factor instead of its value in `amr` (RFC 8176). */
export function amrValue(method: string): string {
  const factors: Readonly<Record<string, { readonly amr: string }>> = SECOND_FACTORS
  return Object.hasOwn(factors, method) ? (factors[method]?.amr ?? method) : method
}

function isRecent(at: Instant | undefined, maxAge: Duration, now: Instant): boolean {
  return at !== undefined && now - at <= maxAge
}
