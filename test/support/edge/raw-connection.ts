/**
 * A bare TLS connection to a listener: what is written is what goes over the wire, so that a test can send what no
 * HTTP client would. Answers are read one after the other; each has a content-length.
 */
import { once } from 'node:events'
import tls from 'node:tls'
import { trustIn } from '../http-client.ts'
import type { Service } from '../service.ts'

export interface RawReply {
  readonly status: number
  /** Every field as it came, names in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  header(name: string): string | undefined
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of any shape
  json(): any
}

export interface RawConnection {
  readonly socket: tls.TLSSocket
  send(text: string | Uint8Array): void
  /** The next answer; undefined when the connection closes before one is whole. */
  reply(): Promise<RawReply | undefined>
  /** Resolves when the service has closed its side. */
  readonly closed: Promise<void>
}

const SILENCE_MILLISECONDS = 60_000

/** To the first base URL of the service, or to `at`. Destroyed by whoever opens it. */
export async function connectRaw(
  service: Pick<Service, 'baseUrl' | 'ca'>,
  options: tls.ConnectionOptions & { readonly at?: string } = {},
): Promise<RawConnection> {
  const { at = service.baseUrl, ...rest } = options
  const { hostname, port } = new URL(at)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const trust =
    Object.keys(rest).length === 0 ? { secureContext: trustIn(service.ca) } : { ca: service.ca }
  const socket = tls.connect({ host, port: Number(port), ...trust, ...rest })
  await once(socket, 'secureConnect')

  let received: Buffer = Buffer.alloc(0)
  let isClosed = false
  let wake = () => {}
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  // The service may close while we still write.
  socket.on('error', () => undefined)
  // Far longer than anything that a test waits for: a service that says nothing fails the test, and soon.
  socket.setTimeout(SILENCE_MILLISECONDS, () => socket.destroy())
  const closed = new Promise<void>((resolve) => {
    const close = () => {
      isClosed = true
      wake()
      resolve()
    }
    socket.on('end', close)
    socket.on('close', close)
  })

  async function reply(): Promise<RawReply | undefined> {
    for (;;) {
      const found = takeReply(received)
      if (found !== undefined) {
        received = found.rest
        return found.reply
      }
      if (isClosed) return undefined
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  return { socket, send: (text) => void socket.write(text), reply, closed }
}

function takeReply(bytes: Buffer): { readonly reply: RawReply; readonly rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(statusLine.split(' ')[1])
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  const header = (name: string) => fields.find(([field]) => field === name)?.[1]
  const bodyAt = end + 4
  const length = Number(header('content-length') ?? 0)
  if (bytes.length < bodyAt + length) return undefined
  const text = bytes.subarray(bodyAt, bodyAt + length).toString('utf8')
  return {
    reply: { status, fields, header, text, json: () => JSON.parse(text) },
    rest: bytes.subarray(bodyAt + length),
  }
}
