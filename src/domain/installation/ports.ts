/** The ports of the first start and of commands on an installation. */
import type { AuditPorts } from '../audit/ports.ts'
import type { PasswordHashing } from '../factors/passwords/hashing.ts'
import type { Transaction } from '../stores.ts'

/** The installation secret is not a port: each use case takes the one it needs as an argument. */
export interface InstallationPorts extends AuditPorts {
  readonly transaction: Transaction
  readonly hashing: Pick<PasswordHashing, 'hash'>
}
