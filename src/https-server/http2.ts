/**
 * HTTP/2 on connections whose TLS handshake has chosen it: RFC 9113, D-405. Requests are handled by the same handlers,
 * through Node's compatibility classes. Here are the limits of a connection: streams, header fields, resets, frames
 * that cost more than they say, and clients that read nothing.
 *
 * nghttp2 below Node refuses connection-specific fields, misplaced or repeated pseudo-fields, upper case, bodies that
 * differ from their length, and header blocks that go on for too long.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'

export interface Http2Connection {
  /** Accepts no further requests; those in progress go on. */
  drain(): void
  endIfIdle(): void
  /** Call it about once a second: cuts streams whose client reads nothing, and connections without a request. */
  check(): void
}

type Handle = (message: IncomingMessage, response: ServerResponse) => void

export interface Http2Options {
  readonly handler: Handle
  readonly onContinue: Handle
  /** Answers CONNECT, which makes no tunnel here. */
  readonly onConnect: Handle
  /** For a header of more than `LARGEST_HEADERS`. */
  readonly onTooLarge: Handle
  /** After so many checks a stream whose client reads nothing is reset. */
  readonly stalledChecks: number
  /** After so many checks a connection without a stream is closed. */
  readonly idleChecks: number
  /** The same, before the first one. */
  readonly firstChecks: number
}

/** RFC 9113 §6.5.2 recommends no fewer. Each one that is accepted has a connection to its upstream. */
const MOST_STREAMS = 100
/** D-44. */
export const LARGEST_HEADERS = 32 * 1024

const OPTIONS: ServerOptions = {
  settings: {
    maxConcurrentStreams: MOST_STREAMS,
    maxHeaderListSize: LARGEST_HEADERS,
    // RFC 8441 is not offered: WebSockets use a connection with HTTP/1.1.
    enableConnectProtocol: false,
  },
  /** In megabytes, for everything that one connection makes us keep. */
  maxSessionMemory: 4,
  /** Beyond it the stream is reset; no field is dropped silently. */
  maxHeaderListPairs: 256,
  maxOutstandingPings: 4,
  maxSettings: 16,
  maxSessionInvalidFrames: 50,
  // More than these is the rapid reset attack (CVE-2023-44487): the connection ends.
  streamResetBurst: 200,
  streamResetRate: 20,
}

/** Streams that were opened and refused before they were answered; a client that goes on is cut. */
const MOST_REJECTED = 20

/** After the last check, a connection that does not end by itself is cut. */
const LINGER_CHECKS = 2

const sockets = new WeakMap<ServerHttp2Session, TLSSocket>()

/** The connection that a request came over, also with HTTP/2, where Node shows only a proxy of it. */
export function connectionOf(message: IncomingMessage): TLSSocket {
  const { stream } = message as IncomingMessage & Partial<Pick<Http2ServerRequest, 'stream'>>
  const { session } = stream ?? {}
  const below = session === undefined ? undefined : sockets.get(session as ServerHttp2Session)
  return below ?? (message.socket as TLSSocket)
}

/** Whether the response is one of HTTP/2, which has no connection-specific fields and no reason phrase. */
export function isHttp2(
  response: ServerResponse | Http2ServerResponse,
): response is Http2ServerResponse {
  return 'stream' in response
}

/**
 * Whether the client no longer waits for the response. With HTTP/2 a client can reset one request and keep the connection, so
 * the connection does not tell; and `close` of such a response has been and does not come again. Ask after every `await`
 * that comes before `once('close')`.
 */
export function isGone(response: ServerResponse): boolean {
  if (!isHttp2(response)) return response.destroyed || response.socket?.destroyed === true
  const { stream } = response
  return stream === undefined || stream.destroyed || stream.closed
}

/** Returns a function that takes over a connection which has chosen HTTP/2. */
export function createHttp2(options: Http2Options): (socket: TLSSocket) => Http2Connection {
  const server = createServer({ ...OPTIONS, maxSessionRejectedStreams: MOST_REJECTED })
  const through =
    (next: Handle) => (message: Http2ServerRequest, response: Http2ServerResponse) => {
      const connection = connections.get(connectionOf(message as unknown as IncomingMessage))
      connection?.begin(response)
      // Errors of a stream are of its client's making; `close` follows.
      message.on('error', () => undefined)
      response.on('error', () => undefined)
      const handle = isTooLarge(message) ? options.onTooLarge : next
      handle(message as unknown as IncomingMessage, response as unknown as ServerResponse)
    }
  server.on('request', through(options.handler))
  server.on('checkContinue', through(options.onContinue))
  server.on('checkExpectation', through(options.handler))
  server.on('connect', through(options.onConnect) as never)
  server.on('sessionError', () => undefined)
  const connections = new WeakMap<TLSSocket, Followed>()

  return (socket) => {
    const adopt = (session: ServerHttp2Session) => {
      sockets.set(session, socket)
      connections.set(socket, followSession(session, socket, options))
    }
    server.once('session', adopt)
    server.emit('connection', socket)
    server.off('session', adopt)
    const connection = connections.get(socket)
    if (connection === undefined)
      throw new Error('this version of Node begins HTTP/2 in another way')
    return connection
  }
}

/** nghttp2 applies the setting only after the client has acknowledged it, so not to the first requests. RFC 9113 §6.5.2. */
function isTooLarge({ rawHeaders }: Http2ServerRequest): boolean {
  const overhead = 16 * rawHeaders.length
  return rawHeaders.reduce((size, text) => size + text.length, overhead) > LARGEST_HEADERS
}

interface Followed extends Http2Connection {
  begin(response: Http2ServerResponse): void
}

interface Running {
  /** How often the client has taken everything that was waiting for it. */
  drains: number
  lastDrains: number
  stalledChecks: number
}

/**
 * Resets a request that has its whole response, so that a body which nothing reads any more is not received to its end.
 * Not before END_STREAM is written, since a reset overtakes it: the response would be incomplete (RFC 9113 §8.1), and
 * Firefox would show an error instead of the page. D-405.
 */
function stopUpload(stream: ServerHttp2Stream): void {
  const { localClose, remoteClose } = stream.state
  if (localClose === 1 && remoteClose === 0) stream.close(constants.NGHTTP2_NO_ERROR)
}

function followSession(
  session: ServerHttp2Session,
  socket: TLSSocket,
  options: Http2Options,
): Followed {
  const running = new Map<Http2ServerResponse, Running>()
  let hasBegun = false
  let idleChecks = 0
  let closingChecks = 0
  session.on('error', () => socket.destroy())
  // A client that goes away without a word leaves nothing behind.
  session.once('close', () => socket.destroy())
  session.on('goaway', (code) => {
    if (code !== constants.NGHTTP2_NO_ERROR) socket.destroy()
  })

  function close(): void {
    if (!session.closed) session.close()
  }

  return {
    begin(response) {
      hasBegun = true
      // As with HTTP/1.1 (`connection.ts`): our own pipelines need more than Node warns about.
      response.setMaxListeners(20)
      const { stream } = response
      const state: Running = { drains: 0, lastDrains: -1, stalledChecks: 0 }
      running.set(response, state)
      stream.on('drain', () => {
        state.drains += 1
      })
      stream.once('close', () => running.delete(response))
      // nghttp2 writes the end of the response after `finish`.
      stream.once('finish', () => setImmediate(stopUpload, stream))
    },

    drain: close,

    endIfIdle() {
      if (running.size === 0) close()
    },

    check() {
      for (const [{ stream }, state] of running) {
        stopUpload(stream)
        const isStalled = stream.writableLength > 0 && state.drains === state.lastDrains
        state.lastDrains = state.drains
        state.stalledChecks = isStalled ? state.stalledChecks + 1 : 0
        if (state.stalledChecks >= options.stalledChecks) stream.close(constants.NGHTTP2_CANCEL)
      }
      closingChecks = session.closed && running.size === 0 ? closingChecks + 1 : 0
      if (closingChecks > LINGER_CHECKS) socket.destroy()
      idleChecks = running.size === 0 ? idleChecks + 1 : 0
      if (idleChecks >= (hasBegun ? options.idleChecks : options.firstChecks)) close()
    },
  }
}
