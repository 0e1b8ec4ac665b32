/** A client of a gateway over HTTP/2. */
import { once } from 'node:events'
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2'
import type { TestContext } from 'node:test'
import type { MadeCertificate } from '../../certificates/openssl.ts'
import { type Edge, type EdgeOptions, startEdge } from '../edge.ts'
import type { EdgePki } from '../edge-pki.ts'

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of any shape
  json(): any
}

interface Http2 {
  readonly edge: Edge
  readonly session: ClientHttp2Session
  readonly closed: Promise<unknown>
  ask(headers?: OutgoingHttpHeaders, body?: string): Promise<Reply>
}

/** Opens connections with this certificate, and calls with tokens of the same PKI. */
export function http2Client(pki: EdgePki, certificate: MadeCertificate) {
  async function open(t: TestContext, options: EdgeOptions = {}, shown = true): Promise<Http2> {
    const edge = await startEdge(t, pki, certificate, options)
    return { edge, ...(await openSession(t, edge, shown)) }
  }

  async function openSession(t: TestContext, edge: Edge, shown = true) {
    const session = connect(edge.url, {
      ca: pki.root.pem,
      ...(shown ? { cert: certificate.pem, key: certificate.keyPem } : {}),
    })
    session.on('error', () => undefined)
    t.after(() => session.destroy())
    await once(session, 'connect')
    const closed = once(session, 'close')
    const token = await pki.token()
    return {
      session,
      closed,
      ask: (headers: OutgoingHttpHeaders = {}, body?: string) =>
        replyOf(session, { authorization: `Bearer ${token}`, ...headers }, body),
    }
  }

  return { open, openSession }
}

export async function replyOf(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<Reply> {
  const stream = session.request(headers, { endStream: body === undefined })
  stream.on('error', () => undefined)
  if (body !== undefined) stream.end(body)
  const answered = await Promise.race([
    once(stream, 'response'),
    once(stream, 'close').then(() => undefined),
  ])
  if (answered === undefined) throw new Error(`reset with ${stream.rstCode}`)
  const [head] = answered as [Record<string, unknown>]
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  if (!stream.readableEnded) await Promise.race([once(stream, 'end'), once(stream, 'close')])
  const text = Buffer.concat(chunks).toString()
  return {
    status: Number(head[':status']),
    headers: head,
    body: text,
    json: () => JSON.parse(text),
  }
}
