/**
 * One TLS connection with HTTP/1.1. Its requests are handled one after the other, further bytes are parsed only when
 * the earlier responses are being sent, and it closes in an orderly way. D-195, D-196, D-197.
 *
 * Node's own server parses and dispatches all pipelined requests at once, and closes a socket while a response is still
 * being sent. So this file passes the bytes to Node's parser in small pieces.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'

/** The error code of received bytes that are not a valid request, by why they are not. */
export const UNREADABLE_CODES = {
  malformed: 'BAD_REQUEST',
  'timed-out': 'REQUEST_TIMEOUT',
  'headers-too-large': 'HEADERS_TOO_LARGE',
  'method-not-allowed': 'METHOD_NOT_ALLOWED',
} as const
export type Unreadable = keyof typeof UNREADABLE_CODES

export interface ConnectionOptions {
  /** Returns the complete response to bytes that could not be parsed, as sent over the wire. */
  readonly answerUnreadable: (why: Unreadable, parserCode: string | undefined) => string
  /** While draining, no further request is parsed, and the last response says `Connection: close`. */
  readonly isDraining: () => boolean
  /** The connection is cut after this many checks in which the peer accepted no byte. */
  readonly stalledChecks: number
}

export interface Connection {
  /** Begins the exchange when all earlier ones are over. */
  exchange(message: IncomingMessage, response: ServerResponse, begin: () => void): void
  /**
   * Hands the connection over to another protocol after this request. Returns false if that is not allowed; then the
   * connection is cut.
   */
  leave(message: IncomingMessage, response: ServerResponse): boolean
  /** From now on the peer may stop reading, and end its side first, for as long as it likes (D-421). */
  letStandStill(): void
  /** Responds to a request that Node has detached from HTTP, and closes. */
  refuse(why: Unreadable): void
  /** Handles a failure of the parser or the socket. */
  fail(error: NodeJS.ErrnoException): void
  /** Draining has begun: the last response says so, if its header is not sent yet. */
  drain(): void
  endIfIdle(): void
  /** Call it about once a second: cuts a peer that accepts no bytes, or that does not close a finished connection. */
  check(): void
}

/**
 * The most bytes that are parsed before the requests in them are examined. About a hundred minimal requests fit, which
 * bounds how many can wait on one connection.
 */
const SLICE = 2 * 1024
/** A paused socket may still deliver data that it had already read, which is a few records (RFC 8446 §5.1: 16 KiB). */
const MOST_UNPARSED = 512 * 1024
/** How many checks a peer has to close its side after our last byte. */
const LINGER_CHECKS = 2

const NOTHING: Buffer = Buffer.alloc(0)

/**
 * `open`: requests are accepted. `left`: the socket belongs to another protocol. `ending`: the last byte is written or
 * being sent; whatever still arrives is discarded. Closing at once would reset the connection, and the peer could lose
 * the response (RFC 9112 §9.6).
 */
type Phase = 'open' | 'left' | 'ending'

interface Exchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly begin: () => void
}

export function followConnection(socket: TLSSocket, options: ConnectionOptions): Connection {
  const { answerUnreadable, isDraining } = options
  const waiting: Exchange[] = []
  let running: Exchange | undefined
  let phase: Phase = 'open'
  let unparsed: Buffer = NOTHING
  let isParsing = false
  /** The parser failed in a later request than the running one; the error response is sent in its turn. */
  let fault: NodeJS.ErrnoException | undefined
  let stalledChecks = 0
  let lingerChecks = 0
  let lastProgress = ''
  let mayStandStill = false

  const parse = takeParser(socket, receive)
  // Node calls this after a response that says `Connection: close`. Its own version closes while bytes are unread.
  socket.destroySoon = () => end()

  function receive(chunk: Buffer): void {
    if (phase === 'ending') return
    unparsed = unparsed.length === 0 ? chunk : Buffer.concat([unparsed, chunk])
    if (unparsed.length > MOST_UNPARSED) socket.destroy()
    else parseOn()
  }

  function parseOn(): void {
    if (isParsing) return
    isParsing = true
    while (phase === 'open' && !socket.destroyed && unparsed.length > 0 && !isHeld()) {
      const slice = unparsed.subarray(0, SLICE)
      unparsed = unparsed.subarray(SLICE)
      parse(slice)
    }
    isParsing = false
    if (phase === 'open' && isHeld()) socket.pause()
  }

  /** D-196: nothing is parsed after a request that waits, nor while the peer does not accept the responses. */
  function isHeld(): boolean {
    if (fault !== undefined || waiting.length > 0) return true
    // Keep reading the body of the running request: its response may depend on it.
    if (running !== undefined && !running.message.complete) return false
    return socket.writableNeedDrain || (running !== undefined && isDraining())
  }
  socket.on('drain', goOn)

  function goOn(): void {
    if (phase !== 'open' || isHeld()) return
    parseOn()
    if (!isHeld()) socket.resume()
  }

  function start(exchange: Exchange): void {
    running = exchange
    const { response, begin } = exchange
    if (isLast()) response.shouldKeepAlive = false
    // Node's pipelines alone add nearly as many listeners as trigger its warning.
    response.setMaxListeners(20).once('close', () => settle(exchange))
    begin()
  }

  /** While draining, requests that are already parsed are answered; the last response says `close`. */
  function isLast(): boolean {
    return isDraining() && waiting.length === 0
  }

  function settle(exchange: Exchange): void {
    if (running !== exchange) return
    running = undefined
    if (phase !== 'open' || socket.destroyed) return
    const next = waiting.shift()
    if (next !== undefined && (fault === undefined || next.message.complete)) {
      start(next)
      // The rest of its body may be here already; nothing would come any more to make us parse it.
      goOn()
    } else if (fault !== undefined) refuse(fault)
    else if (isDraining()) end()
    else goOn()
  }

  function refuse(error: NodeJS.ErrnoException): void {
    end(answerUnreadable(UNREADABLE[error.code ?? ''] ?? 'malformed', error.code))
  }

  function cut(): void {
    phase = 'ending'
    socket.destroy()
  }

  function end(lastWords = ''): void {
    if (phase === 'ending') return
    phase = 'ending'
    waiting.length = 0
    unparsed = NOTHING
    if (socket.writable) socket.end(lastWords)
    if (socket.writableEnded) socket.resume()
    else socket.destroy()
  }

  return {
    exchange(message, response, begin) {
      // RFC 9112 §9.6: nothing is processed after a response that says `close`.
      if (phase !== 'open') return
      const exchange = { message, response, begin }
      if (running === undefined) start(exchange)
      else waiting.push(exchange)
    },

    leave(message, response) {
      // With other requests before it, the two protocols would share the socket.
      if (phase !== 'open' || running !== undefined) {
        cut()
        return false
      }
      start({ message, response, begin: () => undefined })
      // If a body is still to come, Node keeps parsing, and the handler refuses the request.
      if (!message.complete) return true
      phase = 'left'
      socket.off('data', receive)
      if (unparsed.length > 0) socket.unshift(unparsed)
      unparsed = NOTHING
      return true
    },

    letStandStill() {
      mayStandStill = true
      // Node would end our side as soon as the peer ends its own.
      socket.allowHalfOpen = true
    },

    refuse(why) {
      if (phase !== 'open' || running !== undefined) cut()
      else end(answerUnreadable(why, undefined))
    },

    fail(error) {
      const isOfParser = error.code?.startsWith('HPE_') || error.code === TIMEOUT
      if (!isOfParser || !socket.writable) socket.destroy()
      else if (phase === 'ending' || fault !== undefined) return
      else if (running === undefined) refuse(error)
      // The error is in a later request: the ones before it get their responses first.
      else if (running.message.complete) fault = error
      else if (!running.response.headersSent) refuse(error)
      // Never write our own response into the middle of one that is being sent.
      else if (running.response.writableEnded) running.response.once('finish', () => end())
      else socket.destroy()
    },

    drain() {
      if (running !== undefined && isLast() && !running.response.headersSent) {
        running.response.shouldKeepAlive = false
      }
    },

    endIfIdle() {
      if (running === undefined && phase === 'open') end()
    },

    check() {
      if (mayStandStill) return
      const progress = progressOf(socket)
      const isMoving = progress !== lastProgress
      lastProgress = progress
      if (socket.writableLength > 0) {
        stalledChecks = isMoving ? 0 : stalledChecks + 1
        if (stalledChecks >= options.stalledChecks) socket.destroy()
      } else {
        stalledChecks = 0
        lingerChecks = phase === 'ending' ? lingerChecks + 1 : 0
        if (lingerChecks > LINGER_CHECKS) socket.destroy()
      }
    },
  }
}

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT'

const UNREADABLE: Readonly<Record<string, Unreadable>> = {
  [TIMEOUT]: 'timed-out',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
}

/** Puts `receive` between the socket and Node's parser. Returns a function that passes bytes to the parser. */
function takeParser(
  socket: TLSSocket,
  receive: (chunk: Buffer) => void,
): (bytes: Buffer) => unknown {
  const own = socket.listeners('data') as ((bytes: Buffer) => void)[]
  // Adding a listener detaches the socket from the parser (`unconsume` in Node's _http_server.js).
  socket.on('data', receive)
  const [parse] = own
  if (parse === undefined || own.length !== 1)
    throw new Error('this version of Node reads connections in another way')
  socket.off('data', parse)
  return (bytes) => Reflect.apply(parse, socket, [bytes])
}

/** Returns a value that changes whenever the peer has accepted bytes, even in the middle of a long write. */
function progressOf(socket: TLSSocket): string {
  // Node's own timeouts read the write queue of the handle (`_onTimeout` in net.js). It is not public, and for a TLS
  // socket the queue of the underlying socket is the one that changes.
  const { _parent: below } = socket as TLSSocket & {
    readonly _parent?: { readonly _handle?: { readonly writeQueueSize?: number } | null }
  }
  return `${socket.bytesWritten - socket.writableLength} ${below?._handle?.writeQueueSize}`
}
