/** What tokens need from outside. Built once, in `app/compose`. */
import type { Duration } from '../../base/time/duration.ts'
import type { SessionPorts } from '../sessions/ports.ts'

export interface TokenPorts extends SessionPorts {
  readonly idTokenLife: Duration
  readonly refreshTokenDuration: Duration
  /** D-27: 0 is off. */
  readonly refreshRetryWindow: Duration
}
