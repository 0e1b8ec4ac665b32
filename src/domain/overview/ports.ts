/** The ports of the overview. Built once, in `app/compose`. */
import type { Duration } from '../../base/time/duration.ts'
import type { ManagementPorts } from '../management/ports.ts'
import type { Stores } from '../stores.ts'
import type { TokenPorts } from '../tokens/ports.ts'
import type { CountedIntervals } from './counted-intervals.ts'

export interface OverviewPorts
  extends Pick<ManagementPorts, 'clock' | 'rules'>,
    Pick<TokenPorts, 'authorities' | 'signingKeys'>,
    Pick<Stores, 'apiSessions' | 'events' | 'instances' | 'sessionSamples' | 'statistics'> {
  /** `edge.oidc.keys.rotation`. */
  readonly keyRotation: Duration
  readonly countedIntervals: CountedIntervals
}
