import type { AuthPolicyId } from '../../base/ids.ts'
import type { AuthPolicy } from './auth-policy.ts'

export interface AuthPolicies {
  find(id: AuthPolicyId): Promise<AuthPolicy | undefined>
  /** Reads the policy and holds its row until the transaction ends: nobody removes it, or gives it away, meanwhile. */
  hold(id: AuthPolicyId): Promise<AuthPolicy | undefined>
  /** All of them, by name. There are few; every instance keeps a copy (D-34). */
  list(): Promise<readonly AuthPolicy[]>
  insert(policy: AuthPolicy): Promise<'inserted' | 'name-in-use'>
  replace(policy: AuthPolicy): Promise<'replaced' | 'missing' | 'name-in-use'>
  remove(id: AuthPolicyId): Promise<boolean>
}

/** The number that every change of a policy, signer or CA raises, so that copies know when to read again. */
export interface RuleVersions {
  current(): Promise<number>
  /** In the transaction of the change. Raising waits for another raise to commit, so no number is seen too early. */
  raise(): Promise<void>
}
