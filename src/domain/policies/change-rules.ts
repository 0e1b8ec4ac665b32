/**
 * Changes policies, signers or CAs. D-34. Every change first increments the version of the rules. Concurrent changes
 * wait there, so that nothing a change refers to is deleted meanwhile.
 */
import type { Stores } from '../stores.ts'
import type { PolicyPorts } from './ports.ts'

/** Makes the change in one transaction, and returns once this instance has loaded it (`tellCopies`). */
export function changeRules<T>(
  { transaction }: Pick<PolicyPorts, 'transaction'>,
  change: (tx: Stores) => Promise<T>,
): Promise<T> {
  return transaction(async (tx) => {
    await tx.ruleVersions.raise()
    return change(tx)
  })
}
