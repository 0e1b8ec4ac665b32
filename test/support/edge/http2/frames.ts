/** HTTP/2 byte by byte, for what no client library would send: RFC 9113 §4.1, with literal fields (RFC 7541 §6.2.2). */
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import type { MadeCertificate } from '../../certificates/openssl.ts'
import type { Edge } from '../edge.ts'
import type { EdgePki } from '../edge-pki.ts'

export const frame = (type: number, flags: number, stream: number, payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
export const literal = ([name, value]: readonly [string, string]): Buffer => {
  const text = (given: string) => {
    const bytes = Buffer.from(given, 'latin1')
    const length =
      bytes.length < 127
        ? [bytes.length]
        : [127, ((bytes.length - 127) & 127) | 128, (bytes.length - 127) >> 7]
    return Buffer.concat([Buffer.from(length), bytes])
  }
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
export const DATA = 0
export const HEADERS = 1
export const RESET = 3
export const SETTINGS = 4
export const PING = 6
export const CONTINUATION = 9
export const END_STREAM = 1
export const END_HEADERS = 4

export type Fields = readonly (readonly [string, string])[]
export const request = (token: string, ...more: Fields): Fields => [
  [':method', 'POST'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'gateway.example'],
  ['authorization', `Bearer ${token}`],
  ...more,
]

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** Opens a connection, and sends the preface. `types`: of the `frames` that came back. */
export async function openRaw(
  t: TestContext,
  edge: Edge,
  { root }: Pick<EdgePki, 'root'>,
  certificate: MadeCertificate,
) {
  const { port } = new URL(edge.url)
  const socket = tls.connect({
    port: Number(port),
    host: 'localhost',
    ca: root.pem,
    cert: certificate.pem,
    key: certificate.keyPem,
    ALPNProtocols: ['h2'],
  })
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  const types: number[] = []
  const frames: Frame[] = []
  let left = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    left = Buffer.concat([left, chunk])
    while (left.length >= 9 && left.length >= 9 + left.readUIntBE(0, 3)) {
      const [type = -1, flags = 0] = left.subarray(3)
      const end = 9 + left.readUIntBE(0, 3)
      types.push(type)
      frames.push({ type, flags, stream: left.readUInt32BE(5), payload: left.subarray(9, end) })
      left = left.subarray(end)
    }
  })
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0))]))
  return { socket, types, frames, closed: new Promise((resolve) => socket.once('close', resolve)) }
}
