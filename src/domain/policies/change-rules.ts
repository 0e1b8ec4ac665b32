/**
 * A change of policies, signers or CAs. D-34. It raises the version of the rules before anything else: whoever changes
 * some of them at the same time waits there, so that what one refers to does not go away meanwhile.
 */
import type { Stores, Transaction } from '../stores.ts'
import type { Rules } from './rules.ts'

/** Makes the change in one transaction, after which this instance knows it. */
export type ChangeRules = <T>(change: (tx: Stores) => Promise<T>) => Promise<T>

export function createChangeRules(deps: {
  readonly transaction: Transaction
  readonly rules: Pick<Rules, 'refresh'>
}): ChangeRules {
  return async (change) => {
    const result = await deps.transaction(async (tx) => {
      await tx.ruleVersions.raise()
      return change(tx)
    })
    await deps.rules.refresh()
    return result
  }
}
