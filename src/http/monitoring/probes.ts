/**
 * Endpoints that machines poll. GET /health-checks: whether this instance can do its work, for load balancers;
 * warnings (D-362) do not change its status.
 * GET /health-checks/live: whether the process responds at all, for the supervisor that would restart it. D-34, D-137:
 * neither reveals what runs, or where. GET /metrics: the metrics, in the text format of Prometheus. D-138: access is
 * limited only by the listener; any caller that reaches it may read them. Metrics name no identity, but show how many
 * users log in and how often that fails.
 */
import { toRfc3339 } from '../../base/time/instant.ts'
import { type CheckHealth, HEALTH_CHECKS } from '../../domain/health/check-health.ts'
import { type CheckWarnings, HEALTH_WARNINGS } from '../../domain/health/check-warnings.ts'
import { json, text } from '../answer.ts'
import type { Route } from '../route.ts'
import type { Router } from '../router.ts'

const PROBE = {
  method: 'GET',
  access: 'public',
  face: { json: 'api', pages: false },
  isProbe: true,
} as const satisfies Partial<Route>

export function addHealthChecks(
  router: Router,
  use: { readonly checkHealth: CheckHealth; readonly checkWarnings: CheckWarnings },
): void {
  router.add({ ...PROBE, url: '/health-checks', replies: [200, 503] }, async () => {
    const checks = await use.checkHealth()
    const healthy = checks.every((check) => check.healthy)
    const shown = checks.map(({ id, healthy, checkedAt }) => ({
      id,
      description: HEALTH_CHECKS[id],
      healthy,
      lastCheckTime: toRfc3339(checkedAt),
    }))
    const warnings = (await use.checkWarnings()).map((id) => ({
      id,
      description: HEALTH_WARNINGS[id],
    }))
    const data = { healthy, checks: shown, ...(warnings.length === 0 ? {} : { warnings }) }
    return json(healthy ? 200 : 503, { data, meta: {} })
  })

  router.add({ ...PROBE, url: '/health-checks/live', replies: [200] }, () =>
    json(200, { data: { live: true }, meta: {} }),
  )
}

export interface ShownMetrics {
  readonly contentType: string
  render(): Promise<string>
}

export function addMetrics(router: Router, { metrics }: { readonly metrics: ShownMetrics }): void {
  router.add({ ...PROBE, url: '/metrics', replies: [200] }, async () =>
    text(metrics.contentType, await metrics.render()),
  )
}
