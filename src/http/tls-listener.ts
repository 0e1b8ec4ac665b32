/**
 * The sockets of one web listener. TLS with a client certificate asked for and never required: whether one counts
 * is decided later, by our own check, never by `socket.authorized`. Limits and time-outs of D-44.
 */
import { constants } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatHostPort, type HostPort } from '../base/host-port.ts'
import { newId, type RequestId } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Secret } from '../base/secrets/secret.ts'
import type { Duration } from '../base/time/duration.ts'
import { CATALOGUE, Failure, type FailureCode } from '../errors/catalogue.ts'
import { REQUEST_ID_HEADER } from '../protocol/headers.ts'
import { apiErrorBody } from './faces/api-envelope.ts'
import { followConnections, type OpenConnections } from './open-connections.ts'

/** The certificate that a listener shows, and the CAs whose client certificates it asks for. */
export interface TlsMaterial {
  readonly certificatePem: string
  readonly keyPem: Secret
  /** Empty: none is named, which asks for a certificate of any CA (RFC 8446 §4.2.4). */
  readonly clientCasPem: string
}

export interface TlsListenerOptions {
  readonly name: string
  /** One socket each. Port 0: a free one, the same for all. */
  readonly interfaces: readonly HostPort[]
  readonly tls: {
    readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
    readonly maxVersion: 'TLSv1.2' | 'TLSv1.3'
  }
  readonly timeouts: {
    readonly header: Duration
    readonly request: Duration
    readonly idle: Duration
  }
  readonly material: TlsMaterial
  readonly handler: RequestListener
  readonly log: Log
  readonly random: Random
}

export interface TlsListener {
  /** The port that it listens on: the configured one, or the free one that was found. */
  readonly port: number
  /** Shows another certificate, names other CAs or both, from the next handshake on. */
  replaceMaterial(change: Partial<TlsMaterial>): void
  /** Takes no new connections, lets running requests finish, and cuts what is left after `grace`. */
  close(grace: Duration): Promise<void>
}

/** D-44. */
const LARGEST_HEADERS = 32 * 1024
/** Header time-outs are looked for this often; Node's own default would let them run to half a minute. */
const TIMEOUT_CHECK_MILLISECONDS = 1_000
const HANDSHAKE_MILLISECONDS = 10_000
/** How often a drain closes what has become idle. */
const SWEEP_MILLISECONDS = 50

export async function openTlsListener(options: TlsListenerOptions): Promise<TlsListener> {
  const { interfaces, log, name } = options
  const servers: https.Server[] = []
  const connections: OpenConnections[] = []
  let { material } = options
  let port = 0
  try {
    for (const wanted of interfaces) {
      const server = createServer(options)
      const asked = wanted.port === 0 ? port : wanted.port
      const bound = await listen(server, { host: wanted.host, port: asked })
      if (bound.outcome === 'listening') {
        servers.push(server)
        connections.push(followConnections(server))
        port = bound.port
      } else if (bound.outcome === 'no-such-interface') {
        // A machine without IPv6 still serves the default configuration.
        const at = formatHostPort(wanted)
        log.warn({ listener: name, interface: at }, 'this machine has no such interface; left out')
      }
    }
    if (servers.length === 0) throw new Error(`listener ${name} has no interface to listen on`)
  } catch (error) {
    await Promise.all(servers.map((server) => closeServer(server)))
    throw error
  }

  return {
    port,
    replaceMaterial(change) {
      const changed = { ...material, ...change }
      for (const server of servers) server.setSecureContext(secureContext(options, changed))
      material = changed
    },
    async close(grace) {
      const closed = Promise.all(servers.map((server) => closeServer(server)))
      const cut = new AbortController()
      const cutting = sleep(grace, undefined, { signal: cut.signal }).then(
        () => {
          for (const open of connections) open.closeAll()
        },
        () => undefined,
      )
      // Again and again: a connection that finishes its last request turns idle. And not at once: a request may be
      // there that nobody has read yet.
      const sweep = setInterval(() => {
        for (const open of connections) open.closeIdle()
      }, SWEEP_MILLISECONDS)
      await closed
      clearInterval(sweep)
      cut.abort()
      await cutting
    },
  }
}

function createServer(options: TlsListenerOptions): https.Server {
  const { handler, timeouts, material, log, random } = options
  const server = https.createServer(
    {
      ...secureContext(options, material),
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: HANDSHAKE_MILLISECONDS,
      maxHeaderSize: LARGEST_HEADERS,
      headersTimeout: timeouts.header,
      requestTimeout: timeouts.request,
      keepAliveTimeout: timeouts.idle,
      connectionsCheckingInterval: TIMEOUT_CHECK_MILLISECONDS,
      // Node would answer by itself, without a request id; the routes refuse it in our words (D-39).
      requireHostHeader: false,
    },
    handler,
  )
  // RFC 9110 §10.1.1: an expectation that we do not know may be passed over. Node's own 417 has no request id.
  server.on('checkExpectation', handler)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    answerUnreadable(error, socket, { log, random })
  })
  server.on('tlsClientError', (error) => log.debug({ err: error }, 'a TLS handshake failed'))
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

function secureContext({ tls }: TlsListenerOptions, material: TlsMaterial) {
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

type Bound =
  | { readonly outcome: 'listening'; readonly port: number }
  | { readonly outcome: 'no-such-interface' }

function listen(server: https.Server, at: HostPort): Promise<Bound> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isAbsent = error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT'
      if (isAbsent) resolve({ outcome: 'no-such-interface' })
      else reject(error)
    })
    server.listen({ host: at.host, port: at.port }, () => {
      resolve({ outcome: 'listening', port: (server.address() as AddressInfo).port })
    })
  })
}

function closeServer(server: https.Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}

/** What Node's parser refused before there was a request: answered in our own words (D-39, D-45). */
const PARSER_CODES: Readonly<Record<string, FailureCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
}

function answerUnreadable(
  error: NodeJS.ErrnoException & { readonly request?: IncomingMessage },
  socket: Duplex,
  { log, random }: { readonly log: Log; readonly random: Random },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const failure = new Failure(PARSER_CODES[error.code ?? ''] ?? 'BAD_REQUEST')
  const requestId = newId<RequestId>(random)
  const { status } = CATALOGUE[failure.code]
  const body = JSON.stringify(apiErrorBody(failure, requestId))
  log.info({ requestId, status, code: failure.code }, 'request')
  socket.end(
    [
      `HTTP/1.1 ${status} ${failure.code}`,
      `${REQUEST_ID_HEADER}: ${requestId}`,
      'content-type: application/json; charset=utf-8',
      'cache-control: no-store',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
