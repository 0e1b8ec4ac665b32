/**
 * A whole edge in this process: a controller as far as a router sees one, a router, a gateway on it, and a service
 * behind. Nothing of ours is replaced; the controller's words are the test's.
 */
import type { TestContext } from 'node:test'
import { systemRandom } from '../../../src/base/secrets/random.ts'
import { Secret } from '../../../src/base/secrets/secret.ts'
import { milliseconds, seconds } from '../../../src/base/time/duration.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../../src/gateway/gateway.ts'
import type { GatewayTimes } from '../../../src/gateway/http/upstream.ts'
import type { UpstreamSettings } from '../../../src/gateway/settings/settings.ts'
import { upstreamTo } from '../../../src/gateway/settings/upstream-url.ts'
import { type Router, startRouter } from '../../../src/router/router.ts'
import type { MadeCertificate } from '../certificates/openssl.ts'
import { UptimeClock } from '../clocks/uptime-clock.ts'
import { collectedLog } from '../monitoring/collected-log.ts'
import { waitFor } from '../process/child-service.ts'
import { ALICE, type EdgePki } from './edge-pki.ts'
import { type FeedConnection, startFakeController } from './fake-controller.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'
import { startUpstream, type TestUpstream, type UpstreamOptions } from './upstream.ts'

export interface Edge {
  readonly clock: UptimeClock
  readonly url: string
  readonly router: Router
  readonly gateway: Gateway
  readonly feed: FeedConnection
  readonly upstream: TestUpstream
  /** Every log line so far. */
  // biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
  readonly log: readonly any[]
  /** A bare TLS connection to the gateway, with alice's certificate unless told otherwise. */
  connect(shown?: MadeCertificate | 'nothing'): Promise<RawConnection>
  /** One request of alice's, as lines without the token; answers its connection. */
  request(lines: readonly string[], body?: string): Promise<RawConnection>
  stop(): Promise<void>
}

export interface EdgeOptions extends UpstreamOptions {
  readonly times?: Partial<GatewayTimes>
  /** Where nobody listens, say. */
  readonly upstreamPort?: number
  /** Where requests may go; everything to the test's upstream by default. */
  readonly upstreams?: (to: UpstreamSettings) => readonly UpstreamSettings[]
  readonly gateway?: Partial<
    Pick<GatewayOptions, 'waysIn' | 'ownRoutes' | 'mostConnections' | 'mostPerIdentity'>
  >
}

export async function startEdge(
  t: TestContext,
  pki: EdgePki,
  alice: MadeCertificate,
  options: EdgeOptions = {},
): Promise<Edge> {
  const controller = await startFakeController(t, pki)
  const upstream = await startUpstream(t, options)
  const { log, lines } = collectedLog()
  const { keyPem } = pki.server
  const pem = `${pki.server.pem}${pki.issuing.pem}`
  const clock = new UptimeClock()
  const router = startRouter({
    clock,
    controller: controller.url,
    identity: { id: 'router', cert: pem, key: keyPem, ca: pki.root.pem },
    log,
    times: {
      // Heartbeats come when the test sends one.
      silence: seconds(600),
      connect: seconds(30),
      firstPause: milliseconds(1),
      longestPause: milliseconds(10),
    },
  })
  t.after(() => router.stop())
  const feed = await controller.connection()
  feed.greet()
  await waitFor(
    () => !router.isCutOff(),
    () => 'a heartbeat',
  )
  const port = options.upstreamPort ?? upstream.port
  const to = upstreamTo({ kind: 'http', at: { host: '127.0.0.1', port } })
  const gateway = await startGateway({
    router,
    settings: {
      listen: { host: '127.0.0.1', port: 0 },
      upstreams: options.upstreams?.(to) ?? [to],
    },
    ...(options.gateway ?? {}),
    certificatePem: pem,
    keyPem: new Secret(keyPem),
    log,
    random: systemRandom,
    ...(options.times === undefined ? {} : { times: options.times }),
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= gateway.stop(milliseconds(500))
    return stopped
  }
  t.after(stop)

  const url = `https://localhost:${gateway.port}`
  async function connect(shown: MadeCertificate | 'nothing' = alice): Promise<RawConnection> {
    const own = shown === 'nothing' ? {} : { cert: shown.pem, key: shown.keyPem }
    const connection = await connectRaw({ baseUrl: url, ca: pki.root.pem }, own)
    t.after(() => connection.socket.destroy())
    return connection
  }
  return {
    clock,
    url,
    router,
    gateway,
    feed,
    upstream,
    log: lines,
    connect,
    async request(lines, body = '') {
      const connection = await connect()
      const token = await pki.token({ z_asid: ALICE.sessionId })
      connection.send(`${[...lines, `authorization: Bearer ${token}`].join('\r\n')}\r\n\r\n${body}`)
      return connection
    },
    stop,
  }
}
