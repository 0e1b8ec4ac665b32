/** The stored CAs of our own PKI, with an event for each that is made: in one transaction, so neither is alone. */
import type { RecordEvent } from '../../audit/record.ts'
import type { Transaction } from '../../stores.ts'
import type { Authorities } from '../stores.ts'

export function recordAuthorities(deps: {
  readonly authorities: Pick<Authorities, 'list'>
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
}): Authorities {
  const { authorities, transaction, recordEvent } = deps
  return {
    list: () => authorities.list(),
    insert: (authority) =>
      transaction(async (tx) => {
        if (!(await tx.authorities.insert(authority))) return false
        const { role, generation } = authority
        const details = { role, generation }
        await tx.events.insert(recordEvent(undefined, { type: 'authority.created', details }))
        return true
      }),
  }
}
