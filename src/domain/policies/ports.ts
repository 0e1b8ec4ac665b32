/** The ports of policies and of rule changes. Built once, in `app/compose`. */
import type { AuditPorts } from '../audit/ports.ts'
import type { Stores, Transaction } from '../stores.ts'
import type { Rules } from './rules.ts'

export interface PolicyPorts extends AuditPorts, Pick<Stores, 'authPolicies'> {
  readonly transaction: Transaction
  readonly rules: Rules
}
