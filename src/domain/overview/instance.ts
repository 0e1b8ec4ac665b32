/**
 * The instances that serve a database, as each of them reports itself once a minute. D-368. It is for people: no
 * instance relies on what another one reports.
 */
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, hours, minutes } from '../../base/time/duration.ts'
import { type Instant, minus } from '../../base/time/instant.ts'
import type { CheckHealth } from '../health/check-health.ts'
import type { Instances } from './stores.ts'

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

/** How often an instance reports itself. */
export const REPORT_EVERY: Duration = minutes(1)
/** Two reports may be lost. */
const MISSING_AFTER: Duration = minutes(3)
/** Afterwards it is not shown any more: it was stopped, or has another name now. */
const FORGOTTEN_AFTER: Duration = hours(24)

export type InstanceState = 'healthy' | 'unhealthy' | 'missing'

export function stateOf({ seenAt, failing }: Instance, now: Instant): InstanceState {
  if (seenAt < minus(now, MISSING_AFTER)) return 'missing'
  return failing.length === 0 ? 'healthy' : 'unhealthy'
}

/** Returns one round: reports this instance, and removes those that have been missing for a day. */
export function createReportInstance(
  ports: {
    readonly clock: Clock
    readonly instances: Instances
    readonly checkHealth: CheckHealth
    readonly serverCertificates: () => Promise<readonly ServerCertificateEnd[]>
  },
  about: Pick<Instance, 'id' | 'host' | 'version' | 'revision'>,
): () => Promise<void> {
  const { clock, instances, checkHealth, serverCertificates } = ports
  const startedAt = clock.now()
  return async () => {
    const checks = await checkHealth()
    const now = clock.now()
    await instances.replace({
      ...about,
      startedAt,
      seenAt: now,
      failing: checks.filter(({ healthy }) => !healthy).map(({ id }) => id),
      serverCertificates: await serverCertificates(),
    })
    await instances.removeUnseenSince(minus(now, FORGOTTEN_AFTER))
  }
}
