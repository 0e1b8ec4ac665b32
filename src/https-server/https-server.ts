/**
 * The HTTPS server that the service and the gateway stand on: TLS with a client certificate asked for and never required,
 * a strict parser, limits and time-outs (D-44), connections that are followed from the first byte to the last, and a stop
 * that loses no answer. What is said to a request is left to the handler. D-195 to D-198.
 */
import { constants } from 'node:crypto'
import { type IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { HostPort } from '../base/host-port.ts'
import type { Log } from '../base/log.ts'
import type { Secret } from '../base/secrets/secret.ts'
import type { Duration } from '../base/time/duration.ts'
import { type Connection, followConnection, type Unreadable } from './connection.ts'
import type { ConnectionLimit } from './connection-limit.ts'
import { type ProxiedPeer, type ProxyProtocol, receiveProxied } from './receive-proxied.ts'

/** The certificate that the server shows, and the CAs whose client certificates it asks for. */
export interface TlsMaterial {
  readonly certificatePem: string
  readonly keyPem: Secret
  /** Empty: none is named, which asks for a certificate of any CA (RFC 8446 §4.2.4). */
  readonly clientCasPem: string
}

export type Handler = (message: IncomingMessage, response: ServerResponse) => void

export interface HttpsServerOptions {
  readonly tls: { readonly minVersion: TlsVersion; readonly maxVersion: TlsVersion }
  readonly material: TlsMaterial
  readonly timeouts: {
    /** For the handshake, and for the header of a request. */
    readonly header: Duration
    /** For a whole request; 0: none, the handler sees to it that its body moves. */
    readonly request: Duration
    readonly idle: Duration
    /** How long a peer may take none of the bytes that are sent to it. */
    readonly write: Duration
  }
  /** Without it Node has a limit of its own, whatever the header fields measure together. */
  readonly fields?: 'all'
  readonly handler: Handler
  /** A request that waits for `100 Continue`. Without it Node says so at once. */
  readonly onContinue?: Handler
  /** A request that wants to leave HTTP. Without it, such a wish is passed over. */
  readonly onUpgrade?: (
    message: IncomingMessage,
    response: ServerResponse,
    stream: { readonly socket: Duplex; readonly head: Uint8Array },
  ) => void
  /** What is said to bytes of which no request could be made. The server adds `Connection: close`. */
  readonly onUnreadable: (why: Unreadable, parserCode: string | undefined) => RawAnswer
  readonly limit: ConnectionLimit
  /** Every connection begins with the header of a load balancer, which says whose it is (D-208). */
  readonly proxyProtocol?: ProxyProtocol
  readonly log: Log
}

export interface RawAnswer {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HttpsServer {
  /** Answers the port: the wanted one, or the free one that was found for 0. */
  listen(at: HostPort): Promise<number>
  /**
   * Every raw socket arrives here, before TLS, whichever server took it; those of `listen` come by themselves. A socket
   * beyond the limit is closed.
   */
  accept(socket: Socket): void
  /** Shows another certificate, names other CAs or both, from the next handshake on. */
  replaceMaterial(change: Partial<TlsMaterial>): void
  /**
   * Takes no new connections and no new requests, waits until every answer is flushed, and cuts what is left after
   * `grace`.
   */
  close(grace: Duration): Promise<void>
}

type TlsVersion = 'TLSv1.2' | 'TLSv1.3'

/** D-44. */
const LARGEST_HEADERS = 32 * 1024
/** Time-outs are looked for this often; Node's own default would let them run to half a minute. */
const CHECK_MILLISECONDS = 1_000
/** How often a drain closes what has become idle. */
const SWEEP_MILLISECONDS = 50

export function createHttpsServer(options: HttpsServerOptions): HttpsServer {
  const { log, limit, handler, onContinue, onUpgrade } = options
  let { material } = options
  const server = createServer(options)
  const doors: net.Server[] = []
  /** Below TLS, with or without a finished handshake. */
  const sockets = new Set<Socket>()
  const connections = new Map<Duplex, Connection>()
  let isDraining = false

  const connectionOptions = {
    isDraining: () => isDraining,
    stalledChecks: Math.ceil(options.timeouts.write / CHECK_MILLISECONDS),
    answerUnreadable: (why: Unreadable, parserCode: string | undefined) =>
      written(options.onUnreadable(why, parserCode)),
  }
  /** Whose connections they are, where a balancer said so; by the socket below TLS. */
  const peers = new WeakMap<Socket, ProxiedPeer>()
  server.on('secureConnection', (socket) => {
    const below = socketBelow(socket)
    const peer = below && peers.get(below)
    if (peer !== undefined) showPeer(socket, peer)
    connections.set(socket, followConnection(socket, connectionOptions))
    socket.once('close', () => connections.delete(socket))
  })
  const inTurn = (handle: Handler) => (message: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(message.socket)
    connection?.exchange(message, response, () => handle(message, response))
  }
  server.on('request', inTurn(handler))
  // RFC 9110 §10.1.1: an expectation that we do not know may be passed over. Node's own 417 has no request id.
  server.on('checkExpectation', inTurn(handler))
  if (onContinue !== undefined) server.on('checkContinue', inTurn(onContinue))
  if (onUpgrade !== undefined) {
    server.on('upgrade', (message, socket, head) => {
      // Node has taken its own listener away.
      message.socket.on('error', () => undefined)
      const response = new ServerResponse(message)
      if (!connections.get(message.socket)?.leave(message, response)) return
      answerOver(message.socket, response)
      onUpgrade(message, response, { socket, head })
    })
  }
  // D-45. A tunnel to anywhere is not offered.
  server.on('connect', (message: IncomingMessage) => {
    message.socket.on('error', () => undefined)
    connections.get(message.socket)?.refuse('method-not-allowed')
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Before the end of the handshake there is nobody to talk to: an `end` would leave the socket open for ever.
    const connection = connections.get(socket)
    if (connection === undefined) socket.destroy()
    else connection.fail(error)
  })
  server.on('tlsClientError', (error) => log.debug({ err: error }, 'a TLS handshake failed'))
  // It listens nowhere itself, and this is what starts its time-outs for headers and requests.
  server.emit('listening')
  const checking = setInterval(() => {
    for (const connection of connections.values()) connection.check()
  }, CHECK_MILLISECONDS).unref()

  function accept(socket: Socket): void {
    const release = limit.take()
    if (release === undefined) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      release()
    })
    const { proxyProtocol, timeouts } = options
    if (proxyProtocol === undefined) {
      server.emit('connection', socket)
      return
    }
    receiveProxied(socket, { ...proxyProtocol, within: timeouts.header, log }, (peer) => {
      if (peer !== undefined) peers.set(socket, peer)
      server.emit('connection', socket)
    })
  }

  function sweep(): void {
    const secured = new Set([...connections.keys()].map(socketBelow))
    for (const socket of sockets) if (!secured.has(socket)) socket.destroy()
    for (const connection of connections.values()) connection.endIfIdle()
  }

  return {
    accept,

    listen(at) {
      const door = net.createServer({ noDelay: true }, accept)
      return new Promise((resolve, reject) => {
        door.once('error', reject)
        door.listen({ host: at.host, port: at.port }, () => {
          door.off('error', reject)
          // Of `accept`: the connection is lost, and the next one may be fine.
          door.on('error', (error) => limit.noteRefused(error))
          doors.push(door)
          resolve((door.address() as AddressInfo).port)
        })
      })
    },

    replaceMaterial(change) {
      material = { ...material, ...change }
      server.setSecureContext(secureContext(options.tls, material))
    },

    async close(grace) {
      isDraining = true
      // Not the `close` of the HTTPS server: it destroys sockets whose answer is not flushed.
      const closed = Promise.all(doors.map((door) => new Promise((resolve) => door.close(resolve))))
      for (const connection of connections.values()) connection.drain()
      const cut = new AbortController()
      const cutting = sleep(grace, undefined, { signal: cut.signal }).then(
        () => {
          for (const socket of sockets) socket.destroy()
        },
        () => undefined,
      )
      // Again and again: a connection that finishes its last request turns idle. And not at once: a request may be
      // there that nobody has read yet.
      const sweeping = setInterval(sweep, SWEEP_MILLISECONDS)
      await closed
      clearInterval(sweeping)
      clearInterval(checking)
      cut.abort()
      await cutting
      server.close()
    },
  }
}

function createServer({ tls, material, timeouts, fields }: HttpsServerOptions): https.Server {
  const server = https.createServer({
    ...secureContext(tls, material),
    // Asked for and never judged by TLS: our own check decides.
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: timeouts.header,
    maxHeaderSize: LARGEST_HEADERS,
    headersTimeout: timeouts.header,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.idle,
    connectionsCheckingInterval: CHECK_MILLISECONDS,
    insecureHTTPParser: false,
    // Node would answer by itself, without a request id; the handlers refuse it in our words (D-39).
    requireHostHeader: false,
  })
  if (fields === 'all') server.maxHeadersCount = 0
  return server
}

/**
 * Makes OpenSSL look for a revocation list of every CA and find none, so that it takes no client certificate for
 * authorized. Where it does, Node 24 hides the intermediates that the client sent, which our own check needs; and
 * nobody can rely on `socket.authorized` by mistake. Empty, and signed with a key that was thrown away.
 */
const CRL_OF_NOBODY = `-----BEGIN X509 CRL-----
MIGUMD0wCgYIKoZIzj0EAwIwETEPMA0GA1UEAwwGTm9ib2R5Fw0yNTAxMDEwMDAw
MDBaFw0yNTAxMDIwMDAwMDBaMAoGCCqGSM49BAMCA0cAMEQCIBfGHke0cV3rMeu+
B8/1BPVOI63l2VHRUMNNJHaak7ykAiAuW6r15BKk9VLhEbCAmDA2Ss1rhvPsMuY1
KNuKD3AKqA==
-----END X509 CRL-----
`

function secureContext(tls: HttpsServerOptions['tls'], material: TlsMaterial) {
  return {
    cert: material.certificatePem,
    key: material.keyPem.reveal(),
    // Named to the client, so that browsers offer only certificates that could count here. With no list at all
    // Node would take the public one.
    ca: material.clientCasPem === '' ? [] : material.clientCasPem,
    crl: CRL_OF_NOBODY,
    minVersion: tls.minVersion,
    maxVersion: tls.maxVersion,
    // D-21: a resumed connection shows the wrong certificate, so none is resumed.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  }
}

/** Node hands over the bare socket of a request that wants to leave HTTP. An answer goes out like any other, and closes. */
function answerOver(socket: Socket, response: ServerResponse): void {
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
}

/** From here on the socket tells the client's address as its own: to routes, limits, events and the log. */
function showPeer(socket: TLSSocket, { address, port }: ProxiedPeer): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: address },
    remotePort: { value: port },
    remoteFamily: { value: address.includes(':') ? 'IPv6' : 'IPv4' },
  })
}

/** Node has no public way from a TLS socket to the one below it. */
function socketBelow(socket: Duplex): Socket | undefined {
  return (socket as TLSSocket & { readonly _parent?: Socket })._parent
}

function written({ status, reason, headers, body }: RawAnswer): string {
  const fields = Object.entries({ ...headers, connection: 'close' })
  const lines = [`HTTP/1.1 ${status} ${reason}`, ...fields.map((field) => field.join(': '))]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
