/**
 * One HTTPS connection that is kept open, with one request at a time. It does only what the bench needs: the client of Node costs
 * as much CPU as the server under test and would compete with it for the cores.
 */
import { once } from 'node:events'
import { connect } from 'node:tls'

export interface Address {
  readonly port: number
  /** PEM. */
  readonly ca: string
}

export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

export interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly location: string | undefined
  readonly body: string
}

export interface Connection {
  send(request: Request): Promise<Answer>
  close(): void
}

export async function openConnection(
  { port, ca }: Address,
  certificate?: ClientCertificate,
): Promise<Connection> {
  const socket = connect({ host: '127.0.0.1', servername: 'localhost', port, ca, ...certificate })
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  let received: Buffer = Buffer.alloc(0)
  let waiting: PromiseWithResolvers<Answer> | undefined
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    try {
      const answer = readAnswer(received)
      if (answer === undefined) return
      received = Buffer.alloc(0)
      waiting?.resolve(answer)
    } catch (error) {
      waiting?.reject(error)
    }
  })
  socket.on('error', (error) => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('the server closed the connection')))
  return {
    send({ method, path, headers = {}, body = '' }) {
      waiting = Promise.withResolvers<Answer>()
      let text = `${method} ${path} HTTP/1.1\r\nhost: localhost:${port}\r\naccept: application/json\r\n`
      for (const name in headers) text += `${name}: ${headers[name]}\r\n`
      if (method === 'POST') text += `content-length: ${Buffer.byteLength(body)}\r\n`
      socket.write(`${text}\r\n${body}`)
      return waiting.promise
    },
    close: () => socket.destroy(),
  }
}

/** Undefined while a part is missing. Throws for a form that only other servers would send. */
export function readAnswer(received: Buffer): Answer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = received.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const length = fieldOf(head, 'content-length')
  const isEmpty = status === 204 || status === 304
  if (length === undefined && !isEmpty) throw new Error(`no content-length: ${head}`)
  const bodyEnd = end + 4 + Number(length ?? 0)
  if (received.length < bodyEnd) return undefined
  return {
    status,
    location: fieldOf(head, 'location'),
    body: received.toString('utf8', end + 4, bodyEnd),
  }
}

function fieldOf(head: string, name: string): string | undefined {
  return new RegExp(`\r\n${name}: *([^\r]*)`, 'i').exec(head)?.[1]
}
