/** A service with its monitoring on a second listener, and what a machine reads there. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { CallOptions, Reply } from '../http-client.ts'
import { type Service, type ServiceOptions, startService } from '../service.ts'
import { type Family, readPrometheusText } from './prometheus-text.ts'

const point = { interface: '127.0.0.1:0', address: 'localhost:0' }

export interface Monitored {
  readonly service: Service
  /** A call to the second listener. */
  ask(path: string, options?: CallOptions): Promise<Reply>
  /** What `/metrics` says, read strictly. */
  scrape(): Promise<ReadonlyMap<string, Family>>
}

export async function startMonitored(
  t: TestContext,
  options: ServiceOptions = {},
): Promise<Monitored> {
  const web = [
    {
      name: 'apis',
      bindPoints: [point],
      apis: [{ binding: 'edge-client' }, { binding: 'edge-management' }],
    },
    {
      name: 'monitoring',
      bindPoints: [point],
      apis: [{ binding: 'health-checks' }, { binding: 'metrics' }],
    },
  ]
  const service = await startService(t, { ...options, config: { web, ...options.config } })
  const baseUrl = service.instance.listeners[1]?.baseUrls[0]
  const ask = (path: string, call?: CallOptions) => service.client.call(`${baseUrl}${path}`, call)
  return {
    service,
    ask,
    async scrape() {
      const reply = await ask('/metrics')
      assert.equal(reply.status, 200, reply.text)
      return readPrometheusText(reply.text)
    },
  }
}
