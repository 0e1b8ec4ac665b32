/**
 * The sockets that clients of the gateway come over: TLS with a client certificate asked for and never judged here, a
 * strict parser, the limits of D-44, and the answer to what is no request at all.
 */
import { constants } from 'node:crypto'
import { type IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HostPort } from '../base/host-port.ts'
import type { Secret } from '../base/secrets/secret.ts'
import { type AnswerCode, ownAnswer } from './answers.ts'

/** D-44, but for bodies: they are passed on as they come, of any length, as long as they move. */
const LARGEST_HEADERS = 32 * 1024
const HEADER_MILLISECONDS = 10_000
const HANDSHAKE_MILLISECONDS = 10_000
const IDLE_MILLISECONDS = 60_000
/** Header time-outs are looked for this often; Node's own default would let them run to half a minute. */
const TIMEOUT_CHECK_MILLISECONDS = 1_000

export function createTlsServer(certificatePem: string, keyPem: Secret): https.Server {
  const server = https.createServer({
    cert: certificatePem,
    key: keyPem.reveal(),
    // Asked for and never judged by TLS: our own check decides. With no list at all Node would take the public one.
    ca: [],
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    // D-21: a resumed connection shows the wrong certificate, so none is resumed.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    handshakeTimeout: HANDSHAKE_MILLISECONDS,
    maxHeaderSize: LARGEST_HEADERS,
    headersTimeout: HEADER_MILLISECONDS,
    // None for the whole: a body may take as long as it moves (`forward.ts`).
    requestTimeout: 0,
    keepAliveTimeout: IDLE_MILLISECONDS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MILLISECONDS,
    insecureHTTPParser: false,
    // Node would answer by itself, without a request id.
    requireHostHeader: false,
  })
  // Node would silently drop those beyond two thousand, and we could not see what was said twice.
  server.maxHeadersCount = 0
  return server
}

/** The port that it listens on: the given one, or the free one that was found. */
export function listen(server: https.Server, at: HostPort): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: at.host, port: at.port }, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** Node hands over the bare socket of a request that wants to leave HTTP. This one answers like any other, and closes. */
export function responseOver(message: IncomingMessage): ServerResponse {
  const { socket } = message
  const response = new ServerResponse(message)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
  socket.on('error', () => undefined)
  return response
}

const PARSER_CODES: Readonly<Record<string, AnswerCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
}

/** What Node's parser refused before there was a request. Answers what it said; undefined when nobody listens. */
export function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  requestId: string,
): { readonly status: number; readonly code: AnswerCode } | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return undefined
  }
  const code = PARSER_CODES[error.code ?? ''] ?? 'BAD_REQUEST'
  const { status, headers, body } = ownAnswer({ code }, requestId)
  const lines = Object.entries({ ...headers, connection: 'close' })
  const head = [`HTTP/1.1 ${status} ${code}`, ...lines.map((line) => line.join(': '))]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  return { status, code }
}
