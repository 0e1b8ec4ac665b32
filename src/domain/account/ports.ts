/** The account page begins a login, exchanges its code and authenticates calls. */
import type { Duration } from '../../base/time/duration.ts'
import type { CallPorts } from '../calls/ports.ts'

export interface AccountPorts extends CallPorts {
  /** D-345: how long a sign-in to the account page counts for applications. Zero: never. */
  readonly ssoDuration: Duration
}
