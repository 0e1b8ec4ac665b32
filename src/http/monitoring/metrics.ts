/**
 * GET /metrics, in the text format of Prometheus. D-138: the listener is the border; whoever reaches it may read. The
 * numbers name nobody, but they tell how many log in and how often that fails.
 */
import { type Answer, text } from '../answer.ts'
import type { Router } from '../router.ts'
import { PROBE } from './probe.ts'

export interface ShownMetrics {
  readonly contentType: string
  render(): Promise<string>
}

export function addMetrics(router: Router, use: { readonly metrics: ShownMetrics }): void {
  const { metrics } = use
  router.add({ ...PROBE, url: '/metrics', replies: [200] }, async (): Promise<Answer> => {
    return text(metrics.contentType, await metrics.render())
  })
}
