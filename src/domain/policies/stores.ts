import type { AuthPolicyId } from '../../base/ids.ts'
import type { AuthPolicy } from './auth-policy.ts'

export interface AuthPolicies {
  find(id: AuthPolicyId): Promise<AuthPolicy | undefined>
  /** Reads the policy and locks its row until the transaction ends, so that it is not deleted or assigned meanwhile. */
  hold(id: AuthPolicyId): Promise<AuthPolicy | undefined>
  /** All of them, by name. There are few; every instance keeps a copy (D-34). */
  list(): Promise<readonly AuthPolicy[]>
  insert(policy: AuthPolicy): Promise<'inserted' | 'name-in-use'>
  replace(policy: AuthPolicy): Promise<'replaced' | 'missing' | 'name-in-use'>
  remove(id: AuthPolicyId): Promise<boolean>
}

/** The version that every change of a policy, a signer, a CA or the hosts of a router increments, so that copies know when to reload. */
export interface RuleVersions {
  current(): Promise<number>
  /**
   * Call it in the transaction of the change. It waits for other increments to commit, so no number is seen too early.
   */
  raise(): Promise<void>
}
