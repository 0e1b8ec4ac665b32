/**
 * `monitoring.listen`: health and metrics over plain HTTP, for supervisors, load balancers and Prometheus. D-397. It
 * reveals no identity; access is limited only by the address. It answers while the gateway drains, so that a load
 * balancer sees that it is going.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { formatHostPort, type HostPort } from '../../base/host-port.ts'
import type { Log } from '../../base/log.ts'
import { http } from '../../base/node/http.ts'
import { listenAt } from '../../base/node/listen.ts'
import type { Router } from '../../router/router.ts'
import type { GatewayMetrics } from './gateway-metrics.ts'

export interface Monitoring {
  /** Undefined if it is not configured. */
  readonly port: number | undefined
  /** From then on `/readyz` is 503. */
  drain(): void
  stop(): Promise<void>
}

const NOWHERE: Monitoring = { port: undefined, drain() {}, stop: async () => {} }

/** Callers are programs of the operator; a request that takes longer is stuck. */
const LIMIT_MILLISECONDS = 10_000
const MOST_CONNECTIONS = 64

/** Rejects if the address is in use. */
export async function startMonitoring(
  settings: { readonly listen: HostPort } | undefined,
  deps: {
    readonly router: Pick<Router, 'isCutOff'>
    readonly metrics: Pick<GatewayMetrics, 'render' | 'contentType'>
    readonly log: Log
  },
): Promise<Monitoring> {
  if (settings === undefined) return NOWHERE
  const { router, metrics, log } = deps
  let isDraining = false

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (message.url ?? '').split('?', 1)
    const text = (status: number, body: string, type = 'text/plain; charset=utf-8') => {
      response.writeHead(status, {
        'content-type': type,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      })
      response.end(message.method === 'HEAD' ? undefined : body)
    }
    if (message.method !== 'GET' && message.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      text(405, 'GET only\n')
    } else if (path === '/healthz') text(200, 'ok\n')
    else if (path === '/readyz') {
      if (isDraining) text(503, 'draining\n')
      else if (router.isCutOff()) text(503, 'not connected to the controller\n')
      else text(200, 'ok\n')
    } else if (path === '/metrics') text(200, await metrics.render(), metrics.contentType)
    else text(404, 'there is /healthz, /readyz and /metrics\n')
  }

  const server = http.createServer((message, response) => {
    answer(message, response).catch((error: unknown) => {
      log.error({ err: error }, 'a request for health or metrics failed')
      response.destroy()
    })
  })
  server.requestTimeout = LIMIT_MILLISECONDS
  server.headersTimeout = LIMIT_MILLISECONDS
  server.maxConnections = MOST_CONNECTIONS
  const { host, port } = settings.listen
  const bound = await listenAt(server, { host, port }, ({ message }) =>
    log.warn({ reason: message }, 'a connection for health or metrics is refused'),
  )
  log.info({ listen: formatHostPort({ host, port: bound }) }, 'health and metrics')
  return {
    port: bound,
    drain() {
      isDraining = true
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
