/**
 * A service behind a gateway: plain HTTP on a free port of this machine, which remembers every byte that reached it.
 * What it answers is the test's choice; unless told otherwise, what it saw, as JSON.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import { listenUntilEnd } from '../ports.ts'

export interface SeenRequest {
  readonly method: string
  readonly target: string
  /** Names as they came. */
  readonly rawHeaders: readonly string[]
  readonly body: string
  /** Every value of a field, by its name in lower case. */
  values(name: string): readonly string[]
}

export interface TestUpstream {
  readonly port: number
  readonly url: string
  readonly requests: readonly SeenRequest[]
  /** Everything that came over the sockets, as it came. */
  readonly received: () => string
  readonly openSockets: () => number
}

export interface UpstreamOptions {
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => void
  /** The other end of a WebSocket, after the handshake. Unless told otherwise, everything comes back. */
  readonly onTunnel?: (socket: Duplex) => void
  /** Instead of the handshake. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

export async function startUpstream(
  t: Pick<TestContext, 'after'>,
  options: UpstreamOptions = {},
): Promise<TestUpstream> {
  const requests: SeenRequest[] = []
  const chunks: Buffer[] = []
  const sockets = new Set<Socket>()

  const server = createServer((request, response) => {
    if (options.answer !== undefined) {
      requests.push(seen(request, ''))
      options.answer(request, response)
      return
    }
    const body: Buffer[] = []
    request.on('data', (chunk) => body.push(chunk))
    request.on('end', () => {
      const one = seen(request, Buffer.concat(body).toString())
      requests.push(one)
      const text = JSON.stringify(one)
      const length = Buffer.byteLength(text)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
      response.end(text)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    // Node's parser reads past the stream until it has another reader.
    const another = () => undefined
    socket.on('data', another).off('data', another)
    const push = socket.push.bind(socket)
    // Before any parser sees them.
    socket.push = (chunk, ...rest) => {
      if (chunk !== null) chunks.push(Buffer.from(chunk))
      return push(chunk, ...rest)
    }
  })
  server.on('upgrade', (request, socket, head) => {
    requests.push(seen(request, ''))
    if (options.onUpgrade !== undefined) {
      options.onUpgrade(request, socket, head)
      return
    }
    socket.write(
      [
        'HTTP/1.1 101 Switching Protocols',
        'upgrade: websocket',
        'connection: Upgrade',
        `sec-websocket-accept: ${webSocketAccept(request.headers['sec-websocket-key'] ?? '')}`,
        '',
        '',
      ].join('\r\n'),
    )
    if (options.onTunnel !== undefined) options.onTunnel(socket)
    else socket.pipe(socket)
  })
  const port = await listenUntilEnd(t, server)
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    received: () => Buffer.concat(chunks).toString('latin1'),
    openSockets: () => sockets.size,
  }
}

/** RFC 6455 §4.2.2. */
export function webSocketAccept(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

function seen({ method = '', url: target = '', rawHeaders }: IncomingMessage, body: string) {
  return {
    method,
    target,
    rawHeaders,
    body,
    values: (name: string) =>
      rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name),
  }
}
