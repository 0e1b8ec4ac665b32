/**
 * Something between a client and the service that speaks TLS to both, as a broken proxy or a thief would: it forwards
 * what comes, and a test says which request or answer is changed, lost or kept waiting. Clients take it for the
 * service: the service is started with its address.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import type { TestContext } from 'node:test'
import { LEAF_EXTENSIONS, openOpenssl } from '../certificates/openssl.ts'
import type { Reply } from '../http-client.ts'
import { freePort, listenUntilEnd, webAt } from '../ports.ts'
import { type Service, type ServiceOptions, startService } from '../service.ts'

export interface ForwardedRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: string
}

export interface ForwardedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What becomes of a request: forwarded as it is (undefined) or changed, lost before the service saw it, or answered. */
export type Meddle = (request: ForwardedRequest) => Meddling | undefined

export interface Meddling {
  /** Instead of the request. */
  readonly request?: Partial<ForwardedRequest>
  /** Instead of the answer of the service, which did see the request. */
  readonly answer?: (answer: ForwardedAnswer) => ForwardedAnswer
  /** Without asking the service. */
  readonly instead?: ForwardedAnswer
  /** The connection is cut: before the service sees the request, after it has answered, or in the middle of the answer. */
  readonly cut?: 'before' | 'after' | 'middle'
  /** Nothing is said until the test ends: the service does not see the request, or has answered it. */
  readonly silent?: 'before' | 'after'
}

export interface MeddlingProxy {
  readonly url: string
  /** What clients trust it by. */
  readonly ca: string
  /** From now on; undefined: nothing is changed. */
  meddle(given: Meddle | undefined): void
  /** Every request that came, in order: method and path. */
  readonly seen: readonly string[]
  /** The forms that were posted to the token endpoint. */
  readonly tokenForms: readonly URLSearchParams[]
}

export async function startBehindProxy(
  t: TestContext,
  options: ServiceOptions = {},
): Promise<{ readonly service: Service; readonly proxy: MeddlingProxy }> {
  const [own, address] = [await freePort(), await freePort()]
  const service = await startService(t, {
    ...options,
    config: { ...options.config, web: webAt(own, address) },
  })
  const proxy = await startProxy(t, service, { port: address, upstream: own })
  // Calls of the test itself go past the proxy, under the address that the service knows.
  const host = `localhost:${address}`
  const call: Service['call'] = (path, call = {}) =>
    service.client.call(`https://localhost:${own}${path}`, {
      ...call,
      headers: { host, ...call.headers },
    })
  return { service: { ...service, call }, proxy }
}

async function startProxy(
  t: TestContext,
  service: Service,
  ports: { readonly port: number; readonly upstream: number },
): Promise<MeddlingProxy> {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa({ subject: '/CN=CA of the proxy' })
  const certificate = await openssl.makeLeaf(ca, {
    subject: '/CN=proxy',
    extensions: [
      ...LEAF_EXTENSIONS.filter((line) => !line.startsWith('extendedKeyUsage')),
      'extendedKeyUsage=serverAuth',
      'subjectAltName=DNS:localhost',
    ],
  })
  let meddle: Meddle | undefined
  const seen: string[] = []
  const tokenForms: URLSearchParams[] = []

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming)
    const [path = ''] = request.target.split('?')
    seen.push(`${request.method} ${path}`)
    if (path === '/oidc/token') tokenForms.push(new URLSearchParams(request.body))
    const { cut, silent, instead, ...change } = meddle?.(request) ?? {}
    if (cut === 'before') incoming.socket.destroy()
    if (silent === 'before' || cut === 'before') return
    if (instead !== undefined) return write(response, instead)
    const { method, target, headers, body } = { ...request, ...change.request }
    const reply = await service.client.call(`https://localhost:${ports.upstream}${target}`, {
      method,
      headers: withoutLength(headers),
      ...(body === '' ? {} : { body }),
    })
    if (cut === 'after') incoming.socket.destroy()
    if (silent === 'after' || cut === 'after') return
    const answer = answerOf(reply)
    const changed = change.answer?.(answer) ?? answer
    if (cut !== 'middle') return write(response, changed)
    response.writeHead(changed.status, {
      ...changed.headers,
      'content-length': String(Buffer.byteLength(changed.body)),
    })
    response.write(changed.body.slice(0, changed.body.length / 2), () => incoming.socket.destroy())
  }

  const tls = { cert: certificate.pem, key: certificate.keyPem }
  const server = https.createServer(tls, (request, response) => {
    forward(request, response).catch(() => request.socket.destroy())
  })
  await listenUntilEnd(t, server, ports)
  return {
    url: `https://localhost:${ports.port}`,
    ca: ca.pem,
    meddle(given) {
      meddle = given
    },
    seen,
    tokenForms,
  }
}

async function readRequest(incoming: IncomingMessage): Promise<ForwardedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const headers: Record<string, string[]> = {}
  for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
    const name = (incoming.rawHeaders[i] ?? '').toLowerCase()
    headers[name] = [...(headers[name] ?? []), incoming.rawHeaders[i + 1] ?? '']
  }
  return {
    method: incoming.method ?? '',
    target: incoming.url ?? '',
    headers,
    body: Buffer.concat(chunks).toString('utf8'),
  }
}

function withoutLength(
  headers: ForwardedRequest['headers'],
): Readonly<Record<string, string | readonly string[]>> {
  const dropped = ['content-length', 'connection']
  const kept = Object.entries(headers).filter(([name]) => !dropped.includes(name))
  // Several values stay several fields; Node wants one value, such as the host, as a text.
  return Object.fromEntries(
    kept.map(([name, value]) => [name, value.length === 1 ? String(value[0]) : value]),
  )
}

function answerOf({ status, headers, text }: Reply): ForwardedAnswer {
  const kept = [
    'content-type',
    'location',
    'www-authenticate',
    'retry-after',
    'x-request-id',
    'dpop-nonce',
  ]
  const given = kept.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return { status, headers: Object.fromEntries(given), body: text }
}

function write(response: ServerResponse, { status, headers, body }: ForwardedAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
  response.end(body)
}
