/** What ending sessions needs from outside. There is no plain store in it: sessions end inside a transaction. */
import type { Duration } from '../../../base/time/duration.ts'
import type { AuditPorts } from '../../audit/ports.ts'

export interface EndingPorts extends AuditPorts {
  /** The longest lifetime of a token that is signed from now on. */
  readonly accessTokenLife: Duration
}
