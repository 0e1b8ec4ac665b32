/**
 * Opens the web listeners of the configuration: certificates, routes, sockets. Once the last one is open, the set of
 * issuers is complete (D-2).
 */

import type { Socket } from 'node:net'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Duration } from '../base/time/duration.ts'
import type { Config, Listener, StrictTransport } from '../config/config.ts'
import type { CertificateAuthorities } from '../domain/certificates/own/authorities.ts'
import { nameableCas } from '../domain/certificates/third-party/client-cas.ts'
import type { ClientApi } from '../domain/enrollments/enrollment-jwt.ts'
import { relyingPartyAt } from '../domain/factors/passkey/relying-party.ts'
import type { CheckHealth } from '../domain/health/check-health.ts'
import type { CheckWarnings } from '../domain/health/check-warnings.ts'
import { addBoundApis, type HttpPorts } from '../http/bound-apis.ts'
import { plainHttpAnswer } from '../http/faces/plain-http.ts'
import { baseUrl, issuerAt, type ListenerAddresses, listenerAddresses } from '../http/issuers.ts'
import { createListenerApp } from '../http/listener-app.ts'
import type { ShownMetrics } from '../http/monitoring/probes.ts'
import { reshapedFailure } from '../http/openziti/reshaped.ts'
import type { OutcomeCounters, RequestObserver } from '../http/request-observer.ts'
import type { Route } from '../http/route.ts'
import { openTlsListener, type TlsListener } from '../http/tls-listener.ts'
import type { ConnectionLimit } from '../https-server/connection-limit.ts'
import type { Handler } from '../https-server/https-server.ts'
import type { Issuer } from '../protocol/oidc.ts'
import type { BuildInfo } from './build-info.ts'
import { distinctInterfaces, explainListenError } from './listen-places.ts'
import { isPubliclyTrusted } from './public-trust.ts'
import {
  type CertificateSource,
  certificateSource,
  createRenewal,
  type ShownCertificate,
} from './server-certificates.ts'
import { describeVersion } from './version.ts'

export interface OpenListeners {
  readonly listeners: readonly OpenListener[]
  /** Checks for newer certificates and uses them. */
  renewCertificates(): Promise<void>
  /** Requests client certificates of these CAs too, besides our own PKI, from the next handshake on. */
  nameClientCas(pems: readonly string[]): void
  /** Takes a connection that another process has accepted for the listener with this index. */
  accept(listener: number, socket: Socket): void
  close(grace: Duration): Promise<void>
}

export interface OpenListener {
  readonly name: string
  readonly baseUrls: readonly string[]
  readonly routes: readonly Route[]
}

export interface ListenerDependencies {
  readonly config: Config
  readonly ports: HttpPorts
  readonly checkHealth: CheckHealth
  readonly checkWarnings: CheckWarnings
  readonly authorities: CertificateAuthorities
  readonly build: BuildInfo
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly stopping: AbortSignal
  readonly metrics: ShownMetrics & OutcomeCounters
  /** The limit for all listeners together. */
  readonly limit: ConnectionLimit
  readonly intercept: Intercept
  readonly observer: RequestObserver
  /** The ports that the supervisor listens at, by listener; connections come to `accept`. */
  readonly openPorts?: readonly number[]
  /** Called for every issuer as soon as its listener is open. */
  readonly addIssuers: (issuers: readonly Issuer[]) => void
  /** Called for every listener with the client API as soon as it is open, in the order of the file. */
  readonly addClientApi: (api: () => ClientApi) => void
}

/** Wraps the handler of a listener. */
export type Intercept = (handler: Handler) => Handler

interface Opened extends OpenListener {
  readonly listener: Listener
  readonly socket: TlsListener
  readonly source: CertificateSource
  readonly caPem: () => string | undefined
  show(renewed: ShownCertificate): void
}

export async function openListeners(deps: ListenerDependencies): Promise<OpenListeners> {
  const { config, authorities } = deps
  const opened: Opened[] = []
  const close = (grace: Duration) =>
    Promise.all(opened.map(({ socket }) => socket.close(grace))).then(() => undefined)

  try {
    for (const [i, listener] of config.listeners.entries()) {
      opened.push(await openListener(listener, deps, () => opened, deps.openPorts?.[i]))
    }
  } catch (error) {
    await close(0 as Duration)
    throw error
  }

  const renew = createRenewal(opened)
  return {
    listeners: opened,
    close,
    accept(listener, socket) {
      const place = opened[listener]
      if (place === undefined) socket.destroy()
      else place.socket.accept(socket)
    },
    async renewCertificates() {
      await renew()
    },
    nameClientCas(pems) {
      const clientCasPem = nameableCas([authorities.caBundlePem, ...pems])
      for (const { socket } of opened) socket.replaceMaterial({ clientCasPem })
    },
  }
}

async function openListener(
  listener: Listener,
  deps: ListenerDependencies,
  all: () => readonly Opened[],
  openPort: number | undefined,
): Promise<Opened> {
  const { config, ports, authorities, random, log } = deps
  const source = certificateSource(listener, deps)
  let addresses: ListenerAddresses = listenerAddresses([])
  const nameAt: ListenerAddresses['hostnameOf'] = (head) =>
    config.totp.hostname ?? config.branding.name ?? addresses.hostnameOf(head)
  const { app, routes } = createListenerApp(
    {
      ports,
      addresses: () => addresses,
      corsOrigins: config.api.corsOrigins,
      random,
      log,
      branding: config.branding,
      trustedProxies: config.limits.trustedProxies,
      observer: deps.observer,
      reshapeFailure: config.compatibility === 'openziti' ? reshapedFailure : undefined,
      strictTransportSecurity: () => isStrict,
    },
    (router) =>
      addBoundApis(router, listener.apis, ports, {
        corsOrigins: config.api.corsOrigins,
        totpHostname: nameAt,
        relyingParty: (head) =>
          relyingPartyAt(addresses.hostnameOf(head), addresses.baseUrls, nameAt(head)),
        branding: config.branding,
        settings: config.settings,
        checkHealth: deps.checkHealth,
        checkWarnings: deps.checkWarnings,
        addresses: () => addresses,
        compatibility: config.compatibility,
        serverCasPem: () => [...new Set(all().flatMap(({ caPem }) => caPem() ?? []))],
        version: () => describeVersion(deps.build, all(), listener, config),
        metrics: deps.metrics,
        counters: deps.metrics,
        stopping: deps.stopping,
      }),
  )
  await app.ready()
  let shown = await source.load()
  let isStrict = isStrictTransport(listener.strictTransportSecurity, shown)
  const socket = await openTlsListener({
    name: listener.name,
    interfaces: distinctInterfaces(listener),
    ...(openPort === undefined ? {} : { openPort }),
    tls: listener.tls,
    timeouts: listener.timeouts,
    material: { ...shown, clientCasPem: authorities.caBundlePem },
    handler: deps.intercept(app.routing),
    onPlainHttp: (request) => plainHttpAnswer(request, addresses),
    limit: deps.limit,
    ...(listener.proxyProtocol === undefined ? {} : { proxyProtocol: listener.proxyProtocol }),
    log,
    random,
  }).catch((error: NodeJS.ErrnoException) => {
    throw explainListenError(error, listener.name)
  })
  addresses = listenerAddresses(
    listener.bindPoints.map(({ address }) =>
      address.port === 0 ? { ...address, port: socket.port } : address,
    ),
  )
  const { baseUrls } = addresses
  if (listener.apis.some(({ binding }) => binding === 'edge-oidc')) {
    deps.addIssuers(baseUrls.map(issuerAt))
  }
  const wanted = config.api.address && baseUrl(config.api.address)
  const address = baseUrls.find((url) => wanted === undefined || url === wanted)
  if (address !== undefined && listener.apis.some(({ binding }) => binding === 'edge-client')) {
    deps.addClientApi(() => ({ address, ...shown }))
  }
  const show = (renewed: ShownCertificate): void => {
    shown = renewed
    isStrict = isStrictTransport(listener.strictTransportSecurity, shown)
    socket.replaceMaterial(renewed)
  }
  const caPem = () => shown.caPem
  return { name: listener.name, baseUrls, routes, listener, socket, source, caPem, show }
}

/** D-200. */
function isStrictTransport(
  configured: StrictTransport,
  { certificatePem }: ShownCertificate,
): boolean {
  return configured === 'auto' ? isPubliclyTrusted(certificatePem) : configured === 'always'
}
