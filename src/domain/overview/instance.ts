/**
 * The instances that serve a database, as each of them reports itself. D-368. It is for people: no instance relies on
 * what another one reports.
 */
import { type Duration, minutes } from '../../base/time/duration.ts'
import { type Instant, minus } from '../../base/time/instant.ts'

export interface Instance {
  /** The same after a restart, so that an instance has one row. */
  readonly id: string
  /** The name of its machine. */
  readonly host: string
  readonly version: string
  readonly revision: string
  readonly startedAt: Instant
  readonly seenAt: Instant
  /** The health checks that failed when it was seen. */
  readonly failing: readonly string[]
  /** The certificates of its listeners. */
  readonly serverCertificates: readonly ServerCertificateEnd[]
}

export interface ServerCertificateEnd {
  readonly listener: string
  readonly endsAt: Instant
  /** Whether our own PKI issued it, and therefore renews it. */
  readonly isOwn: boolean
}

/** Two reports may be lost. */
const MISSING_AFTER: Duration = minutes(3)

export type InstanceState = 'healthy' | 'unhealthy' | 'missing'

export function stateOf({ seenAt, failing }: Instance, now: Instant): InstanceState {
  if (seenAt < minus(now, MISSING_AFTER)) return 'missing'
  return failing.length === 0 ? 'healthy' : 'unhealthy'
}
