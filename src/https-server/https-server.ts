/**
 * The HTTPS server of the service and the gateway: TLS that requests a client certificate but never requires one, a
 * strict parser, limits and timeouts (D-44), connections that are tracked from the first byte to the last, and a
 * shutdown that loses no response. The handler decides how requests are answered. D-195 to D-198, D-201.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import net, { type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { HostPort } from '../base/host-port.ts'
import type { Log } from '../base/log.ts'
import { http } from '../base/node/http.ts'
import { listenAt } from '../base/node/listen.ts'
import { deferred } from '../base/time/deferred.ts'
import type { Duration } from '../base/time/duration.ts'
import { type Connection, followConnection, type Unreadable } from './connection.ts'
import type { ConnectionLimit, Place } from './connection-limit.ts'
import { connectionOf, createHttp2, type Http2Connection, LARGEST_HEADERS } from './http2.ts'
import { answerPlainHttp, type PlainRequest } from './plain-http.ts'
import { type ProxiedPeer, type ProxyProtocol, receiveProxied } from './receive-proxied.ts'
import { secureContext, type TlsMaterial, type TlsVersions } from './secure-context.ts'

export type { TlsMaterial } from './secure-context.ts'

export type Handler = (message: IncomingMessage, response: ServerResponse) => void

export interface HttpsServerOptions {
  readonly tls: TlsVersions
  readonly material: TlsMaterial
  readonly timeouts: {
    /** For the handshake, and for the header of a request. */
    readonly header: Duration
    /** For a whole request; 0 means no limit: the handler checks that the body makes progress. */
    readonly request: Duration
    readonly idle: Duration
    /** How long a peer may accept none of the bytes that are sent to it. */
    readonly write: Duration
  }
  /** By default Node limits the number of header fields, even if they are small. */
  readonly fields?: 'all'
  /** HTTP/2 for clients that prefer it (D-405). By default HTTP/1.1 alone. */
  readonly http2?: 'offered'
  readonly handler: Handler
  /** Handles a request that waits for `100 Continue`. By default Node sends it at once. */
  readonly onContinue?: Handler
  /** Handles a request that asks for an upgrade. By default the upgrade is ignored. */
  readonly onUpgrade?: (
    message: IncomingMessage,
    response: ServerResponse,
    stream: Upgraded,
  ) => void
  /** Returns the response to bytes that are not a valid request. The server adds `Connection: close`. */
  readonly onUnreadable: (why: Unreadable, parserCode: string | undefined) => RawAnswer
  /** Returns the response to a request in plain HTTP. By default the TLS handshake fails (D-339). */
  readonly onPlainHttp?: (request: PlainRequest) => RawAnswer
  readonly limit: ConnectionLimit
  /** Every connection begins with a load balancer's header that names the client (D-208). */
  readonly proxyProtocol?: ProxyProtocol
  readonly log: Log
}

/** A connection that a request asks to hand over to another protocol. */
export interface Upgraded {
  readonly socket: Duplex
  /** The bytes that the client sent after its request. */
  readonly head: Uint8Array
  /** From now on the client may stop reading, and end its side first, for as long as it likes (D-421). */
  letStandStill(): void
  /** Closes the connection in a way that the client cannot mistake for an orderly end. */
  reset(): void
}

export interface RawAnswer {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HttpsServer {
  /** Returns the port: the requested one, or a free one for 0. */
  listen(at: HostPort): Promise<number>
  /**
   * Accepts a raw socket, before TLS, from any server; the sockets of `listen` are passed here automatically. At the
   * limit, the oldest connection without a request, or else the one that has been idle the longest, is closed to make
   * way; if every connection has a request, the socket is closed.
   */
  accept(socket: Socket): void
  /** Changes the certificate, the named CAs, or both, from the next handshake on. */
  replaceMaterial(change: Partial<TlsMaterial>): void
  /**
   * Accepts no new connections or requests, waits until every response is flushed, and cuts the remaining connections
   * after `grace`.
   */
  close(grace: Duration): Promise<void>
}

/** How often timeouts are checked; with Node's default they would be up to half a minute late. */
const CHECK_MILLISECONDS = 1_000
/** How often a drain closes connections that have become idle. */
const SWEEP_MILLISECONDS = 50

export function createHttpsServer(options: HttpsServerOptions): HttpsServer {
  const { log, limit, handler, onContinue, onUpgrade } = options
  let { material } = options
  const server = createServer(options)
  const listeners: net.Server[] = []
  /** Underneath TLS, with or without a finished handshake. */
  const sockets = new Map<Socket, Place>()
  const connections = new Map<Duplex, Connection>()
  let isDraining = false
  /** Resolves when the drain has begun and no socket is left. */
  const empty = deferred<void>()

  const connectionOptions = {
    isDraining: () => isDraining,
    stalledChecks: Math.ceil(options.timeouts.write / CHECK_MILLISECONDS),
    answerUnreadable: (why: Unreadable, parserCode: string | undefined) =>
      written(options.onUnreadable(why, parserCode)),
  }
  /** The clients that a balancer named, by the socket underneath TLS. */
  const peers = new WeakMap<Socket, ProxiedPeer>()
  const sessions = new Map<Duplex, Http2Connection>()
  const keeping = (handle: Handler) => (message: IncomingMessage, response: ServerResponse) => {
    keepPlace(connectionOf(message), response)
    handle(message, response)
  }
  const checks = (time: Duration) => Math.ceil(time / CHECK_MILLISECONDS)
  const refusing = (why: Unreadable) => (_: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = options.onUnreadable(why, undefined)
    response.writeHead(status, headers).end(body)
  }
  const beginHttp2 = createHttp2({
    handler: keeping(handler),
    onContinue: keeping(onContinue ?? handler),
    onConnect: refusing('method-not-allowed'),
    onTooLarge: refusing('headers-too-large'),
    stalledChecks: connectionOptions.stalledChecks,
    idleChecks: checks(options.timeouts.idle),
    firstChecks: checks(options.timeouts.header),
  })
  const beginHttp1 = takeListener(server)
  server.on('secureConnection', (socket: TLSSocket) => {
    const below = socketBelow(socket)
    const peer = below && peers.get(below)
    if (peer !== undefined) showPeer(socket, peer)
    if (socket.alpnProtocol === HTTP2) {
      sessions.set(socket, beginHttp2(socket))
      socket.once('close', () => sessions.delete(socket))
      return
    }
    Reflect.apply(beginHttp1, server, [socket])
    connections.set(socket, followConnection(socket, connectionOptions))
    socket.once('close', () => connections.delete(socket))
  })
  const inTurn = (handle: Handler) => (message: IncomingMessage, response: ServerResponse) => {
    keepPlace(message.socket, response)
    const connection = connections.get(message.socket)
    connection?.exchange(message, response, () => handle(message, response))
  }
  /** Until the response is over; without one, such as for an upgrade, as long as the connection is open. */
  function keepPlace(socket: Duplex, response?: ServerResponse): void {
    const below = socketBelow(socket)
    const isOver = below && sockets.get(below)?.keep()
    if (isOver !== undefined) response?.once('close', isOver)
  }
  server.on('request', inTurn(handler))
  // RFC 9110 §10.1.1: an unknown expectation may be ignored. Node's own 417 has no request id.
  server.on('checkExpectation', inTurn(handler))
  if (onContinue !== undefined) server.on('checkContinue', inTurn(onContinue))
  if (onUpgrade !== undefined) {
    server.on('upgrade', (message, socket, head) => {
      // Node has removed its own listener.
      message.socket.on('error', () => undefined)
      // With a body to come, Node wraps the socket in another stream, which fails when a refused client leaves.
      if (socket !== message.socket) socket.on('error', () => undefined)
      keepPlace(message.socket)
      const response = new http.ServerResponse(message)
      const connection = connections.get(message.socket)
      if (!connection?.leave(message, response)) return
      answerOver(message.socket, response)
      const { letStandStill } = connection
      onUpgrade(message, response, { socket, head, letStandStill, reset: () => reset(socket) })
    })
  }
  // D-45. The server does not offer tunnels.
  server.on('connect', (message: IncomingMessage) => {
    message.socket.on('error', () => undefined)
    connections.get(message.socket)?.refuse('method-not-allowed')
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Before the handshake is done there is no HTTP peer: `end` would leave the socket open forever.
    const connection = connections.get(socket)
    if (connection === undefined) socket.destroy()
    else connection.fail(error)
  })
  server.on('tlsClientError', (error) => log.debug({ err: error }, 'a TLS handshake failed'))
  let checking: NodeJS.Timeout | undefined

  /** Timeouts are checked while there are connections: an idle server does not wake up (D-348). */
  function beginChecks(): void {
    if (checking !== undefined) return
    // This server does not listen itself; the event starts Node's own checks, of headers and whole requests.
    server.emit('listening')
    checking = setInterval(() => {
      for (const connection of connections.values()) connection.check()
      for (const session of sessions.values()) session.check()
      if (sockets.size === 0) endChecks()
    }, CHECK_MILLISECONDS).unref()
  }

  function endChecks(): void {
    clearInterval(checking)
    checking = undefined
    // Stops Node's own checks. It has no other effect, because there are no connections and this server does not listen.
    server.close()
  }

  function accept(socket: Socket): void {
    // One that another process accepted may come after the drain has begun.
    const place = isDraining ? undefined : limit.take(() => socket.destroy())
    if (place === undefined) {
      socket.destroy()
      return
    }
    sockets.set(socket, place)
    beginChecks()
    socket.once('close', () => {
      sockets.delete(socket)
      place.giveBack()
      if (isDraining && sockets.size === 0) empty.resolve()
    })
    const { proxyProtocol, timeouts } = options
    if (proxyProtocol === undefined) {
      receive(socket)
      return
    }
    receiveProxied(socket, { ...proxyProtocol, within: timeouts.header, log }, (peer) => {
      if (peer !== undefined) peers.set(socket, peer)
      receive(socket)
    })
  }

  function receive(socket: Socket): void {
    const { onPlainHttp, timeouts } = options
    const handshake = () => void server.emit('connection', socket)
    if (onPlainHttp === undefined) {
      handshake()
      return
    }
    const answer = (request: PlainRequest) => {
      log.debug({ address: socket.remoteAddress }, 'answered a request in plain HTTP')
      return written(onPlainHttp(request))
    }
    answerPlainHttp(socket, { answer, within: timeouts.header }, handshake)
  }

  function sweep(): void {
    const secured = new Set([...connections.keys(), ...sessions.keys()].map(socketBelow))
    for (const socket of sockets.keys()) if (!secured.has(socket)) socket.destroy()
    for (const connection of connections.values()) connection.endIfIdle()
    for (const session of sessions.values()) session.endIfIdle()
  }

  return {
    accept,

    async listen({ host, port }) {
      const listener = net.createServer({ noDelay: true }, accept)
      const bound = await listenAt(listener, { host, port }, limit.noteRefused)
      listeners.push(listener)
      return bound
    },

    replaceMaterial(change) {
      material = { ...material, ...change }
      server.setSecureContext(secureContext(options.tls, material))
    },

    async close(grace) {
      isDraining = true
      // Do not call `close` of the HTTPS server: it destroys sockets whose response is not flushed.
      const closed = Promise.all(
        listeners.map((listener) => new Promise((resolve) => listener.close(resolve))),
      )
      // Not all sockets come from listeners of this process.
      if (sockets.size === 0) empty.resolve()
      for (const connection of connections.values()) connection.drain()
      for (const session of sessions.values()) session.drain()
      const cut = new AbortController()
      const cutting = sleep(grace, undefined, { signal: cut.signal }).then(
        () => {
          if (sockets.size > 0) {
            const msg = 'the grace period of the stop is over; open connections are cut'
            log.warn({ connections: sockets.size }, msg)
          }
          for (const socket of sockets.keys()) socket.destroy()
        },
        () => undefined,
      )
      // Repeatedly, because a connection becomes idle when it finishes its last request. Not immediately, because a
      // request may have arrived that is not read yet.
      const sweeping = setInterval(sweep, SWEEP_MILLISECONDS)
      await Promise.all([closed, empty.promise])
      clearInterval(sweeping)
      cut.abort()
      await cutting
      endChecks()
    },
  }
}

function createServer({
  tls,
  material,
  timeouts,
  fields,
  http2,
}: HttpsServerOptions): https.Server {
  const server = https.createServer({
    ...secureContext(tls, material),
    // RFC 7301: the first that the client offers too.
    ALPNProtocols: http2 === 'offered' ? [HTTP2, 'http/1.1'] : ['http/1.1'],
    // TLS requests the certificate but does not verify it: our own check decides.
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: timeouts.header,
    maxHeaderSize: LARGEST_HEADERS,
    headersTimeout: timeouts.header,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.idle,
    connectionsCheckingInterval: CHECK_MILLISECONDS,
    insecureHTTPParser: false,
    // Node's own response has no request id; the handlers refuse such a request with our own error (D-39).
    requireHostHeader: false,
  })
  if (fields === 'all') server.maxHeadersCount = 0
  return server
}

const HTTP2 = 'h2'

/** Node's own listener would parse every connection as HTTP/1.1. Returns it, for those that are. */
function takeListener(server: https.Server): (socket: TLSSocket) => void {
  const [listener, ...others] = server.listeners('secureConnection')
  if (listener === undefined || others.length > 0) {
    throw new Error('this version of Node reads connections in another way')
  }
  server.removeAllListeners('secureConnection')
  return listener as (socket: TLSSocket) => void
}

/** Node hands over the bare socket of an upgrade request. This sends a normal response over it, and then closes it. */
function answerOver(socket: Socket, response: ServerResponse): void {
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
}

/** Makes the socket report the client's address as its own: to routes, limits, events and the log. */
function showPeer(socket: TLSSocket, { address, port }: ProxiedPeer): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: address },
    remotePort: { value: port },
    remoteFamily: { value: address.includes(':') ? 'IPv6' : 'IPv4' },
  })
}

/** Node has no public way from a TLS socket to the underlying one. */
function socketBelow(socket: Duplex): Socket | undefined {
  return (socket as TLSSocket & { readonly _parent?: Socket })._parent
}

/** Without the socket underneath, TLS can only end, and an end without its alert looks orderly to many clients. */
function reset(socket: Duplex): void {
  socketBelow(socket)?.resetAndDestroy()
  socket.destroy()
}

/** Returns the response as it is sent over the wire; the connection ends with it. */
export function written({ status, reason, headers, body }: RawAnswer): string {
  const fields = Object.entries({ ...headers, connection: 'close' })
  const lines = [`HTTP/1.1 ${status} ${reason}`, ...fields.map((field) => field.join(': '))]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
