/** Stores the CAs of our own PKI, each in the same transaction as its audit event. */
import type { AuditPorts } from '../../audit/ports.ts'
import { record } from '../../audit/record.ts'
import type { Transaction } from '../../stores.ts'
import type { Authorities } from '../stores.ts'

export function recordAuthorities(
  ports: AuditPorts & {
    readonly authorities: Pick<Authorities, 'list'>
    readonly transaction: Transaction
  },
): Authorities {
  const { authorities, transaction } = ports
  return {
    list: () => authorities.list(),
    insert: (authority) =>
      transaction(async (tx) => {
        if (!(await tx.authorities.insert(authority))) return false
        const { role, generation } = authority
        const details = { role, generation }
        await record(ports, tx, undefined, { type: 'authority.created', details })
        return true
      }),
  }
}
