/** The account page begins a login, exchanges its code and authenticates calls. */
import type { Duration } from '../../base/time/duration.ts'
import type { CallPorts } from '../calls/ports.ts'
import type { Stores } from '../stores.ts'

/** Routers and instances: who has confirmed what a page ended (D-363). */
export interface AccountPorts extends CallPorts, Pick<Stores, 'routerRuns' | 'instances'> {
  /** D-345: how long a sign-in to the account page counts for applications. Zero: never. */
  readonly ssoDuration: Duration
}
