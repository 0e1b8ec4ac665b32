/**
 * GET /health-checks: whether this instance can do its work, for load balancers; GET /health-checks/live: whether the
 * process answers at all, for whoever would restart it. D-34, D-137. Nothing here tells a stranger what runs, or where.
 */
import { toRfc3339 } from '../../base/time/instant.ts'
import { type CheckHealth, HEALTH_CHECKS } from '../../domain/health/check-health.ts'
import { json } from '../answer.ts'
import type { Router } from '../router.ts'
import { PROBE } from './probe.ts'

export function addHealthChecks(router: Router, use: { readonly checkHealth: CheckHealth }): void {
  router.add({ ...PROBE, url: '/health-checks', replies: [200, 503] }, async () => {
    const checks = await use.checkHealth()
    const healthy = checks.every((check) => check.healthy)
    const shown = checks.map(({ id, healthy, checkedAt }) => ({
      id,
      description: HEALTH_CHECKS[id],
      healthy,
      lastCheckTime: toRfc3339(checkedAt),
    }))
    return json(healthy ? 200 : 503, { data: { healthy, checks: shown }, meta: {} })
  })

  router.add({ ...PROBE, url: '/health-checks/live', replies: [200] }, () =>
    json(200, { data: { live: true }, meta: {} }),
  )
}
