/** How an instance reports itself, once a minute: D-368. */
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, hours, minutes } from '../../base/time/duration.ts'
import { minus } from '../../base/time/instant.ts'
import type { CheckHealth } from '../health/check-health.ts'
import type { Instance, ServerCertificateEnd } from './instance.ts'
import type { Instances } from './stores.ts'

/** How often an instance reports itself. */
export const REPORT_EVERY: Duration = minutes(1)
/** Afterwards it is not shown any more: it was stopped, or has another name now. */
const FORGOTTEN_AFTER: Duration = hours(24)

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
