import type { AuthPolicyId } from '../../base/ids.ts'
import type { AuthPolicy } from './auth-policy.ts'

export interface AuthPolicies {
  find(id: AuthPolicyId): Promise<AuthPolicy | undefined>
  insert(policy: AuthPolicy): Promise<void>
}
