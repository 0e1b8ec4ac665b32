/** What the first start, and commands on an installation, need from outside. */
import type { AuditPorts } from '../audit/ports.ts'
import type { PasswordHashing } from '../factors/passwords/hashing.ts'
import type { Transaction } from '../stores.ts'

/** The installation secret is not a port: each use case says which one it means. */
export interface InstallationPorts extends AuditPorts {
  readonly transaction: Transaction
  readonly hashing: Pick<PasswordHashing, 'hash'>
}
