/**
 * Recognizes a request in plain HTTP at the port of an HTTPS server and answers it, before TLS sees the connection:
 * browsers and people forget the `s`. Reads only as much as it needs to tell the two apart and to redirect; everything
 * else, including bytes that are neither, is left to TLS. D-339.
 */
import type { Socket } from 'node:net'
import type { Duration } from '../base/time/duration.ts'

/** What is known of the request. All of it is the caller's choice, and nothing of it has been checked. */
export interface PlainRequest {
  readonly method: string
  readonly target: string
  /** Of several Host fields none counts. */
  readonly host: string | undefined
}

export interface PlainHttp {
  /** Returns the complete response, as sent over the wire. */
  readonly answer: (request: PlainRequest) => string
  /** For the first bytes, and for the header of a plain request. */
  readonly within: Duration
}

/** More is not read: the response depends on the first line and the Host field, which come first. */
const LONGEST_HEAD = 8 * 1024
/** How long a peer may still send after our response; closing at once could make it lose the response. */
const LINGER_MILLISECONDS = 2_000
/** RFC 8446 §5.1: the type of a record that begins a handshake. */
const HANDSHAKE = 0x16
const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT'
  .split(' ')
  .map((method) => `${method} `)
const LONGEST_METHOD = Math.max(...METHODS.map(({ length }) => length))

/** Calls `ready` once, unless the peer speaks plain HTTP or sends nothing in time; then it closes the socket. */
export function answerPlainHttp(
  socket: Socket,
  { answer, within }: PlainHttp,
  ready: () => void,
): void {
  // There may be no other listener yet, and the error itself does not matter: `close` follows.
  socket.on('error', () => undefined)
  const timer = setTimeout(() => socket.destroy(), within)
  let received: Buffer = Buffer.alloc(0)

  function read(): void {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const kind = beginningOf(received)
      if (kind === 'tls') {
        stop()
        // TLS reads this buffered data before it reads from the network.
        socket.unshift(received)
        ready()
        return
      }
      if (kind === 'http' && (isWhole(received) || received.length >= LONGEST_HEAD)) {
        stop()
        finish(answer(readRequest(received)))
        return
      }
    }
  }

  function finish(response: string): void {
    socket.end(response)
    socket.resume()
    const lingering = setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref()
    socket.once('close', () => clearTimeout(lingering))
  }

  function ended(): void {
    stop()
    socket.destroy()
  }

  function stop(): void {
    clearTimeout(timer)
    socket.off('readable', read).off('end', ended).off('close', ended)
  }

  socket.on('readable', read).on('end', ended).on('close', ended)
}

/** What the first bytes of a connection are. `undefined`: too few to tell. */
export function beginningOf(bytes: Uint8Array): 'tls' | 'http' | undefined {
  if (bytes.length === 0) return undefined
  if (bytes[0] === HANDSHAKE) return 'tls'
  const text = Buffer.from(bytes.subarray(0, LONGEST_METHOD)).toString('latin1')
  if (METHODS.some((method) => text.startsWith(method))) return 'http'
  return METHODS.some((method) => method.startsWith(text)) ? undefined : 'tls'
}

function isWhole(bytes: Buffer): boolean {
  return bytes.includes('\r\n\r\n') || bytes.includes('\n\n')
}

/** Reads leniently: every request gets the same sentence, and the target of a redirect is checked by the caller. */
export function readRequest(bytes: Buffer): PlainRequest {
  const [first = '', ...fields] = bytes.subarray(0, LONGEST_HEAD).toString('latin1').split(/\r?\n/)
  const [method = '', target = ''] = first.split(' ')
  const hosts = fieldsBeforeBody(fields).flatMap(
    (field) => /^host:[ \t]*(.*?)[ \t]*$/i.exec(field)?.[1] ?? [],
  )
  return { method, target, host: hosts.length === 1 ? hosts[0] : undefined }
}

function fieldsBeforeBody(lines: readonly string[]): readonly string[] {
  const end = lines.indexOf('')
  return end < 0 ? lines : lines.slice(0, end)
}
