/**
 * `latchkey gateway`: a gateway in front of services. It accepts TLS with a client certificate and a session token, and
 * forwards plain HTTP and WebSocket; the services learn who calls and never see a credential. D-42; docs/router.md.
 *
 * A request passes these steps, each in a file of its own: read and check it (`http/read-request.ts`), the gateway's own
 * paths or an upstream (`routing/route-request.ts`), authenticate and apply the rules (`passing/admit.ts`), forward or
 * tunnel (`passing/pass-to-upstream.ts`). This file only puts them together.
 */
import { X509Certificate } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { newId, type RequestId } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import { type Clock, systemClock } from '../base/time/clock.ts'
import { type Duration, milliseconds, seconds } from '../base/time/duration.ts'
import { UNREADABLE_CODES, type Unreadable } from '../https-server/connection.ts'
import {
  type ConnectionLoad,
  createConnectionLimit,
  mostConnections,
} from '../https-server/connection-limit.ts'
import { createHttpsServer, type RawAnswer } from '../https-server/https-server.ts'
import type { Router } from '../router/router.ts'
import { answerAsPage } from './browser/as-page.ts'
import { type BrowserOptions, openToBrowsers } from './browser/browser.ts'
import { ownAnswer } from './http/answers.ts'
import { readRequest } from './http/read-request.ts'
import type { GatewayTimes } from './http/upstream.ts'
import type { ListenerCertificate } from './listener/listener-problems.ts'
import { plainHttpAnswer } from './listener/plain-http.ts'
import type { WayIn } from './passing/admit.ts'
import {
  type Arriving,
  beginExchange,
  type EndedRequest,
  type Exchange,
} from './passing/exchange.ts'
import { createOpenWork } from './passing/open-work.ts'
import type { GatewayParts, OwnRoute } from './passing/own-routes.ts'
import { createPassToUpstream } from './passing/pass-to-upstream.ts'
import { createCurrentUpstreams } from './routing/current-upstreams.ts'
import { routeRequest } from './routing/route-request.ts'
import type { GatewaySettings, UpstreamSettings } from './settings/settings.ts'
import { createConnectRoute } from './tcp/connect-route.ts'
import { MOST_CONNECTIONS_PER_IDENTITY } from './tcp/open-connections.ts'
import { openVerifying } from './verify/open.ts'

export interface GatewayOptions extends ListenerCertificate {
  readonly router: Pick<Router, 'check' | 'checkHeldToken' | 'watch' | 'brand' | 'rolesOf'>
  readonly settings: Pick<GatewaySettings, 'listen' | 'upstreams' | 'verify'>
  readonly log: Log
  readonly random: Random
  readonly clock?: Pick<Clock, 'now'>
  /** Where browsers sign in. Default: they are refused as programs without credentials are. */
  readonly browsers?: Pick<BrowserOptions, 'controller' | 'ca' | 'clock'>
  /** Tried in this order, before certificate and token. */
  readonly waysIn?: readonly WayIn[]
  readonly ownRoutes?: readonly OwnRoute[]
  readonly times?: Partial<GatewayTimes>
  /** Called when a request has ended, for metrics. */
  readonly onRequest?: (ended: EndedRequest) => void
  /** The most client connections; by default what the descriptor limit allows. */
  readonly mostConnections?: number
  /** The most open TCP connections of an identity, and the most WebSockets. D-422. */
  readonly mostPerIdentity?: number
}

export interface Gateway {
  readonly port: number
  /** Of `verify.listen`. */
  readonly verifyPort: number | undefined
  /** For the next handshakes; open connections stay. */
  replaceCertificate(next: ListenerCertificate): void
  /**
   * For the next requests. Those in progress finish, unless their caller is refused now: they may last as long as a
   * tunnel. Tunnels, open or opening, are cut if an upstream was changed or removed, because they were admitted by what
   * it said before. D-396.
   */
  replaceUpstreams(upstreams: readonly UpstreamSettings[]): void
  load(): ConnectionLoad & { readonly tunnels: number }
  /** Requests in progress finish, until `grace` is over; WebSockets end at once. */
  stop(grace: Duration): Promise<void>
}

/** D-44, D-196. */
const TIMES: GatewayTimes = {
  header: seconds(10),
  upload: seconds(30),
  answer: seconds(30),
  write: seconds(30),
}
const IDLE: Duration = seconds(60)

/** The client's connection and the one to the upstream that belongs to it. */
const DESCRIPTORS_PER_CONNECTION = 2

/** Rejects if an address cannot be listened on; then nothing is open. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { router, log, random, onRequest } = options
  const times = { ...TIMES, ...options.times }
  const upstreams = createCurrentUpstreams(options.settings.upstreams)
  const browsers = options.browsers && openToBrowsers({ ...options.browsers, router, log, random })
  // Whatever a failed start has opened would keep the process alive.
  await using opening = new AsyncDisposableStack()
  opening.defer(() => browsers?.stop())
  const waysIn = [...(options.waysIn ?? []), ...(browsers === undefined ? [] : [browsers.wayIn])]
  const { mostPerIdentity = MOST_CONNECTIONS_PER_IDENTITY } = options
  const connect = createConnectRoute({ times, mostPerIdentity })
  const clock = options.clock ?? systemClock
  const { verify } = options.settings
  const verifying =
    verify && browsers && (await openVerifying(verify, { ...options, clock, browsers }))
  opening.defer(() => verifying?.listener?.stop())
  const routes = [connect, ...(options.ownRoutes ?? []), ...(browsers?.routes ?? [])]
  const ownRoutes = new Map(
    [...routes, ...(verifying?.routes ?? [])].map((route) => [route.name, route]),
  )
  const openWork = createOpenWork({ router, clock, log }, upstreams)
  const parts: GatewayParts = {
    get upstreams() {
      return upstreams.list()
    },
    router,
    waysIn,
    clock,
    rely: openWork.rely,
    opened: openWork.opened,
  }
  const most = options.mostConnections ?? mostConnections(DESCRIPTORS_PER_CONNECTION)
  const limit = createConnectionLimit(most, log)
  const passToUpstream = createPassToUpstream(parts, { times, mostRequests: most, mostPerIdentity })
  let leaf = new X509Certificate(options.certificatePem)
  const server = createHttpsServer({
    tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
    material: {
      certificatePem: options.certificatePem,
      keyPem: options.keyPem,
      clientCasPem: '',
    },
    // No limit for the whole request: a body may take any time, provided that it keeps moving (`forward.ts`).
    timeouts: { header: times.header, request: milliseconds(0), idle: IDLE, write: times.write },
    limit,
    log,
    // All header fields must be visible, so that a repeated one is detected wherever it is.
    fields: 'all',
    http2: 'offered',
    handler: (message: IncomingMessage, response: ServerResponse) => handle({ message, response }),
    onContinue: (message, response) => handle({ message, response, isWaiting: true }),
    onUpgrade: (message, response, upgrade) => handle({ message, response, upgrade }),
    onUnreadable: answerUnreadable,
    onPlainHttp: (request) => plainHttpAnswer(request, leaf),
  })

  function answerUnreadable(why: Unreadable, parserCode: string | undefined): RawAnswer {
    const requestId = newId<RequestId>(random)
    const code = UNREADABLE_CODES[why]
    const answer = ownAnswer({ code }, requestId)
    log.info({ requestId, status: answer.status, code, why: parserCode }, 'request')
    onRequest?.({ status: answer.status, code, isPassed: false, reason: undefined })
    return { ...answer, reason: code }
  }

  function handle(arriving: Arriving): void {
    const asPage = browsers && answerAsPage
    const arrival = beginExchange(arriving, { log, random, asPage, onEnd: onRequest })
    const inbound = readRequest(arrival.message)
    if ('fault' in inbound) {
      // At once: the parser may fail on the same thing, and would close before we have responded.
      arrival.answer({ code: 'BAD_REQUEST' }, { why: inbound.fault })
      return
    }
    const exchange: Exchange = { ...arrival, inbound }
    const kind = arrival.upgrade === undefined ? 'request' : 'upgrade'
    const destination = routeRequest(inbound, kind, upstreams.choose)
    switch (destination.to) {
      case 'nowhere': {
        const { code, why } = destination
        arrival.answer({ code }, why === undefined ? {} : { why })
        return
      }
      case 'own': {
        const route = ownRoutes.get(destination.name)
        if (route === undefined) arrival.answer({ code: 'NOT_FOUND' }, {})
        else guard(exchange, async () => route.handle(exchange, destination.rest, parts))
        return
      }
      case 'upstream': {
        const { upstream } = destination
        if (upstreams.list().length > 1) arrival.note({ upstream: upstream.name })
        guard(exchange, () => passToUpstream(upstream, exchange))
      }
    }
  }

  function guard({ requestId, socket }: Exchange, step: () => Promise<void>): void {
    step().catch((error: unknown) => {
      log.error({ requestId, err: error }, 'a request failed')
      socket.destroy()
    })
  }

  const port = await server.listen(options.settings.listen)
  const opened = opening.move()
  return {
    port,
    verifyPort: verifying?.listener?.port,
    replaceCertificate(next) {
      const { certificatePem, keyPem } = next
      server.replaceMaterial({ certificatePem, keyPem })
      leaf = new X509Certificate(certificatePem)
      verifying?.listener?.replaceCertificate(next)
    },
    replaceUpstreams: openWork.replaceUpstreams,
    load: () => ({ ...limit.load(), tunnels: openWork.tunnelCount() }),
    async stop(grace) {
      const closed = server.close(grace)
      openWork.cutTunnels()
      await closed
      await opened.disposeAsync()
    },
  }
}
