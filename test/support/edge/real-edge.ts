/**
 * A router and a gateway in this process that follow a real controller, with a service behind; and people who come
 * through it with what the controller gave them.
 */
import type { TestContext } from 'node:test'
import { systemRandom } from '../../../src/base/secrets/random.ts'
import { Secret } from '../../../src/base/secrets/secret.ts'
import { milliseconds } from '../../../src/base/time/duration.ts'
import { type Gateway, startGateway } from '../../../src/gateway/gateway.ts'
import type { UpstreamSettings, VerifySettings } from '../../../src/gateway/settings/settings.ts'
import { upstreamTo } from '../../../src/gateway/settings/upstream-url.ts'
import { type Router, startRouter } from '../../../src/router/router.ts'
import { makeCsr } from '../certificates/csr.ts'
import { UptimeClock } from '../clocks/uptime-clock.ts'
import { collectedLog } from '../monitoring/collected-log.ts'
import type { Service } from '../service.ts'
import { issueCertificate, type LiveSession } from './live-session.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'
import { makeRouter, type NewRouter } from './router-identity.ts'
import { startUpstream, type TestUpstream, type UpstreamOptions } from './upstream.ts'

/** What somebody shows on a connection. */
export interface Shown {
  readonly cert: string
  readonly key: string
}

export interface Traveller {
  /** Undefined: none is shown. */
  readonly shown?: Shown | undefined
  /** The fields that carry the credential; empty: none is sent. */
  readonly headers: Readonly<Record<string, string>>
}

export interface RealEdge extends Omit<NewRouter, 'certificate'> {
  readonly url: string
  readonly router: Router
  /** Of the router. */
  readonly clock: UptimeClock
  readonly upstream: TestUpstream
  // biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
  readonly log: readonly any[]
  readonly verifyPort: number | undefined
  readonly gateway: Gateway
  /** Stops the gateway, not its router. */
  stopGateway(): Promise<void>
}

export async function startRealEdge(
  t: Pick<TestContext, 'after'>,
  service: Pick<Service, 'baseUrl' | 'call' | 'ca'>,
  given: {
    readonly made?: Omit<NewRouter, 'certificate'>
    /** Of the gateway; a free one by default. */
    readonly port?: number
    /** Of the router. */
    readonly clock?: UptimeClock
    readonly upstreams?: (to: UpstreamSettings) => readonly UpstreamSettings[]
    readonly upstream?: UpstreamOptions
    readonly verify?: VerifySettings
  } = {},
): Promise<RealEdge> {
  const made = given.made ?? (await makeRouter(t, service))
  const { clock = new UptimeClock(), port = 0 } = given
  const upstream = await startUpstream(t, given.upstream)
  const { log, lines } = collectedLog()
  const { identity } = made
  const router = startRouter({ controller: service.baseUrl, identity, clock, log })
  t.after(() => router.stop())
  await router.ready
  const to = upstreamTo({ kind: 'http', at: { host: '127.0.0.1', port: upstream.port } })
  const gateway = await startGateway({
    router,
    settings: {
      listen: { host: '127.0.0.1', port },
      upstreams: given.upstreams?.(to) ?? [to],
      ...(given.verify === undefined ? {} : { verify: given.verify }),
    },
    certificatePem: identity.cert,
    keyPem: new Secret(identity.key),
    log,
    random: systemRandom,
    clock,
    browsers: { controller: service.baseUrl, ca: service.ca, clock },
  })
  let stopped: Promise<void> | undefined
  const stopGateway = () => {
    stopped ??= gateway.stop(milliseconds(100))
    return stopped
  }
  t.after(stopGateway)
  const url = `https://localhost:${gateway.port}`
  const { verifyPort } = gateway
  return { ...made, url, verifyPort, gateway, router, clock, upstream, log: lines, stopGateway }
}

/** A session with a fresh certificate of its own. */
export async function travellerOf(
  session: LiveSession,
): Promise<Traveller & { readonly shown: Shown; readonly certificateId: string }> {
  const { pem, keyPem } = await makeCsr()
  const { id, certificate } = await issueCertificate(session, pem)
  return {
    shown: { cert: certificate, key: keyPem },
    headers: session.headers,
    certificateId: id,
  }
}

type Listening = Pick<RealEdge, 'url' | 'gatewayCa'>

/** Connects to the gateway; destroyed with the test. */
export async function travel(
  t: TestContext,
  { url, gatewayCa }: Listening,
  { shown }: Traveller,
): Promise<RawConnection> {
  const connection = await connectRaw({ baseUrl: url, ca: gatewayCa }, shown ?? {})
  t.after(() => connection.socket.destroy())
  return connection
}

/** One request through the gateway, on a connection of its own. */
export async function pass(t: TestContext, gateway: Listening, traveller: Traveller) {
  const { send, reply, socket } = await travel(t, gateway, traveller)
  send(head('GET / HTTP/1.1', traveller))
  const answer = await reply()
  socket.destroy()
  return answer
}

/** A WebSocket through the gateway; the upstream sends back what it hears. */
export async function openTunnel(
  t: TestContext,
  gateway: Listening,
  traveller: Traveller,
): Promise<RawConnection & { readonly status: number | undefined }> {
  const connection = await travel(t, gateway, traveller)
  connection.send(
    head('GET /socket HTTP/1.1', traveller, [
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    ]),
  )
  return { ...connection, status: (await connection.reply())?.status }
}

function head(first: string, { headers }: Traveller, more: readonly string[] = []): string {
  const own = Object.entries(headers).map((field) => field.join(': '))
  return `${[first, 'host: gateway.example', ...more, ...own].join('\r\n')}\r\n\r\n`
}
