/**
 * A change of policies, signers or CAs. D-34. It raises the version of the rules before anything else: whoever changes
 * some of them at the same time waits there, so that what one refers to does not go away meanwhile.
 */
import type { Stores } from '../stores.ts'
import type { PolicyPorts } from './ports.ts'

/** Makes the change in one transaction, and returns once this instance knows it (`tellCopies`). */
export function changeRules<T>(
  { transaction }: Pick<PolicyPorts, 'transaction'>,
  change: (tx: Stores) => Promise<T>,
): Promise<T> {
  return transaction(async (tx) => {
    await tx.ruleVersions.raise()
    return change(tx)
  })
}
