/**
 * One TLS connection that speaks HTTP/1.1: its requests are handled one after the other, its next bytes are parsed only
 * when the answers before them are on their way, and it ends in order. D-195, D-196, D-197.
 *
 * Node's own server parses and dispatches every pipelined request at once, and closes a socket under an answer that is
 * still being sent. So the bytes reach Node's parser through here, a little at a time.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'

/** Why no request could be made of what arrived. */
export type Unreadable = 'malformed' | 'headers-too-large' | 'timed-out' | 'method-not-allowed'

export interface ConnectionOptions {
  /** The whole answer to what could not be read, as it goes over the wire. */
  readonly answerUnreadable: (why: Unreadable, parserCode: string | undefined) => string
  /** No further request is parsed, and the last answer says `Connection: close`. */
  readonly isDraining: () => boolean
  /** After so many checks without one byte taken by the peer the connection is cut. */
  readonly stalledChecks: number
}

export interface Connection {
  /** Begins the exchange when those before it are over. */
  exchange(message: IncomingMessage, response: ServerResponse, begin: () => void): void
  /** The connection leaves HTTP behind this request. False: it may not, and was cut. */
  leave(message: IncomingMessage, response: ServerResponse): boolean
  /** Answers a request that Node has taken out of HTTP, and ends. */
  refuse(why: Unreadable): void
  /** The parser or the socket failed. */
  fail(error: NodeJS.ErrnoException): void
  /** Draining has begun: the last answer says so, where its header is not sent yet. */
  drain(): void
  endIfIdle(): void
  /** Called about once a second: cuts a peer that takes no bytes, or that does not close what is over. */
  check(): void
}

/**
 * The most that is parsed before the requests in it are looked at: as many minimal requests fit into it as may wait on
 * one connection, about a hundred.
 */
const SLICE = 2 * 1024
/** A paused socket may still deliver what it had read from the network, which is a few records (RFC 8446 §5.1: 16 KiB). */
const MOST_UNPARSED = 512 * 1024
/** A peer has so many checks to close its side after our last byte. */
const LINGER_CHECKS = 2

const NOTHING: Buffer = Buffer.alloc(0)

/**
 * `open`: requests are taken. `left`: the socket belongs to another protocol. `ending`: the last byte is written or on
 * its way; what still arrives is discarded. Closing at once would reset the connection, and the peer could lose the
 * answer (RFC 9112 §9.6).
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
  /** What could not be read behind the running request; it is answered in its turn. */
  let fault: NodeJS.ErrnoException | undefined
  let stalledChecks = 0
  let lingerChecks = 0
  let lastProgress = ''

  const parse = takeParser(socket, receive)
  // Node calls it behind an answer that says `Connection: close`. Its own would close under unread bytes.
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

  /** D-196: nothing is parsed behind a request that waits, nor while the peer does not take the answers. */
  function isHeld(): boolean {
    if (fault !== undefined || waiting.length > 0) return true
    // The body of the running request is read on: its answer may depend on it.
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
    // Node's pipelines alone bring nearly as many listeners as it warns of.
    response.setMaxListeners(20).once('close', () => settle(exchange))
    begin()
  }

  /** While draining, the requests that are already parsed are answered; the last answer says `close`. */
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
      // RFC 9112 §9.6: nothing is processed behind an answer that says `close`.
      if (phase !== 'open') return
      const exchange = { message, response, begin }
      if (running === undefined) start(exchange)
      else waiting.push(exchange)
    },

    leave(message, response) {
      // Behind other requests the two protocols would share the socket.
      if (phase !== 'open' || running !== undefined) {
        cut()
        return false
      }
      start({ message, response, begin: () => undefined })
      // With a body still to come Node goes on parsing, and the handler refuses it.
      if (!message.complete) return true
      phase = 'left'
      socket.off('data', receive)
      if (unparsed.length > 0) socket.unshift(unparsed)
      unparsed = NOTHING
      return true
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
      // The fault is in a later request: those before it get their answers first.
      else if (running.message.complete) fault = error
      else if (!running.response.headersSent) refuse(error)
      // Never write our own answer into the middle of one that is being sent.
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

/** Puts `receive` between the socket and Node's parser. Answers what hands bytes to the parser. */
function takeParser(
  socket: TLSSocket,
  receive: (chunk: Buffer) => void,
): (bytes: Buffer) => unknown {
  const own = socket.listeners('data') as ((bytes: Buffer) => void)[]
  // Adding a listener takes the socket out of the parser's hands (`unconsume` in Node's _http_server.js).
  socket.on('data', receive)
  const [parse] = own
  if (parse === undefined || own.length !== 1) throw new Error('Node reads connections otherwise')
  socket.off('data', parse)
  return (bytes) => Reflect.apply(parse, socket, [bytes])
}

/** Changes when the peer has taken something, also in the middle of a long write. */
function progressOf(socket: TLSSocket): string {
  // Node looks at the queue of the handle for its own time-outs (`_onTimeout` in net.js). It has no public name, and of
  // a TLS socket it is the one below that moves.
  const { _parent: below } = socket as TLSSocket & {
    readonly _parent?: { readonly _handle?: { readonly writeQueueSize?: number } | null }
  }
  return `${socket.bytesWritten - socket.writableLength} ${below?._handle?.writeQueueSize}`
}
