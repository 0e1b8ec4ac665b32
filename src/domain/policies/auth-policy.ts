/**
 * Which ways of logging in an identity may use. API 4.4.
 */
import type { AuthPolicyId } from '../../base/ids.ts'
import type { Instant } from '../../base/instant.ts'

export interface AuthPolicy {
  readonly id: AuthPolicyId
  readonly name: string
  readonly primary: {
    readonly updb: { readonly allowed: boolean; readonly minPasswordLength: number }
  }
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export const DEFAULT_POLICY_ID = 'default' as AuthPolicyId

/** The policy that new identities get (API 4.4). */
export function defaultPolicy(now: Instant): AuthPolicy {
  return {
    id: DEFAULT_POLICY_ID,
    name: 'default',
    primary: { updb: { allowed: true, minPasswordLength: 8 } },
    createdAt: now,
    updatedAt: now,
  }
}
