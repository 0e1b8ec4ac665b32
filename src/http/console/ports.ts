/** What the screens of the console need: what the account and the management API need. */
import type { AccountPorts } from '../../domain/account/ports.ts'
import type { ManagementPorts } from '../../domain/management/ports.ts'
import type { OverviewPorts } from '../../domain/overview/ports.ts'
import type { LedgerPorts } from '../../domain/sessions/confirming/session-ledger.ts'
import type { Stores } from '../../domain/stores.ts'

export type ConsolePorts = AccountPorts &
  ManagementPorts &
  LedgerPorts &
  OverviewPorts &
  Pick<Stores, 'events' | 'routerRuns'>
