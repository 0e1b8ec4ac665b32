/**
 * The listener for proxies, `verify.listen`: the question whether a browser may pass, and the pages of the sign-in, which
 * the proxy passes on under `/.latchkey/`. D-413. Plain HTTP on this machine; elsewhere TLS with the certificate of the
 * gateway. A caller that reaches it can ask about any host and path, and learns nothing without the cookie.
 */
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { type HostPort, isLoopbackHost } from '../../base/host-port.ts'
import { newId, type RequestId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { http } from '../../base/node/http.ts'
import { listenAt } from '../../base/node/listen.ts'
import type { Random } from '../../base/secrets/random.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { LARGEST_HEADERS } from '../../https-server/http2.ts'
import { written } from '../../https-server/https-server.ts'
import { answerPlainHttp, type PlainRequest } from '../../https-server/plain-http.ts'
import { answerAtHttps } from '../../https-server/plain-http-answer.ts'
import { CIPHERS } from '../../https-server/secure-context.ts'
import { answerWith } from '../browser/as-page.ts'
import { NOT_STORED } from '../browser/pages.ts'
import { writeToBrowser } from '../browser/send.ts'
import { answerSite, SITE_ROUTES } from '../browser/site.ts'
import type { BrowserAnswer, Visit } from '../browser/visit.ts'
import { brandOf } from '../http/answers.ts'
import { fieldsOf } from '../http/fields.ts'
import type { ListenerCertificate } from '../listener/listener-problems.ts'
import { shortened } from '../passing/exchange.ts'
import { readForwarded } from './forwarded.ts'
import { type VerifyPorts, verifyVisit } from './verify.ts'

export interface VerifyListener {
  readonly port: number
  /** For the next handshakes, where it speaks TLS. */
  replaceCertificate(next: ListenerCertificate): void
  stop(): Promise<void>
}

const TIMEOUT: Duration = seconds(10)
const MOST_CONNECTIONS = 1_000

const PREFIX = '/.latchkey/'
const VERIFY = `${PREFIX}verify`

type VerifyDeps = VerifyPorts & { readonly random: Random; readonly log: Log }

export async function startVerifyListener(
  ports: VerifyDeps,
  at: HostPort,
  certificate: ListenerCertificate,
): Promise<VerifyListener> {
  const { log, random } = ports
  const options = {
    maxHeaderSize: LARGEST_HEADERS,
    headersTimeout: TIMEOUT,
    requestTimeout: TIMEOUT,
    keepAliveTimeout: seconds(60),
  }
  const handler: RequestListener = (message, response) => {
    // Envoy announces the body of the original request, and sends none of it.
    message.resume()
    const requestId = newId<RequestId>(random)
    answerProxy(ports, message, requestId)
      .then((answer) => finish(message, response, answer, requestId))
      .catch((error: unknown) => {
        log.error({ requestId, err: error }, 'a request failed')
        response.destroy()
      })
  }
  const server = isLoopbackHost(at.host)
    ? http.createServer(options, handler)
    : answeringPlainHttp(https.createServer({ ...options, ...tlsOf(certificate) }, handler), ports)
  /** Also those without a request or a handshake, which `closeAllConnections` leaves open. */
  const sockets = new Set<Socket>()
  server.prependListener('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.maxConnections = MOST_CONNECTIONS
  const { host, port } = at
  const bound = await listenAt(server, { host, port }, ({ message }) =>
    log.warn({ reason: message }, 'a connection of the proxy is refused'),
  )

  function finish(
    message: IncomingMessage,
    response: ServerResponse,
    { about, ...answer }: BrowserAnswer & { readonly about?: object },
    requestId: string,
  ): void {
    const { status, code } = answer
    log.info({ requestId, status, ...(code === undefined ? {} : { code }), ...about }, 'verify')
    writeToBrowser(message, response, answer, requestId)
  }

  return {
    port: bound,
    replaceCertificate(next) {
      if (server instanceof https.Server) server.setSecureContext(tlsOf(next))
    },
    async stop() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function tlsOf({ certificatePem, keyPem }: ListenerCertificate) {
  const key = keyPem.reveal()
  return { cert: certificatePem, key, minVersion: 'TLSv1.2', ciphers: CIPHERS } as const
}

/** A proxy that is configured with `http://` would see a connection that breaks, and its operator no reason. D-413. */
function answeringPlainHttp(server: https.Server, { log, random }: VerifyDeps): https.Server {
  const [handshake, ...others] = server.listeners('connection')
  if (handshake === undefined || others.length > 0) {
    throw new Error('this version of Node accepts connections in another way')
  }
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const answer = (request: PlainRequest) => {
      const refusal = answerAtHttps(request, undefined)
      const why = 'the request of the proxy is in plain HTTP, and verify.listen speaks TLS here'
      log.info({ requestId: newId<RequestId>(random), status: refusal.status, why }, 'verify')
      return written(refusal)
    }
    const within = TIMEOUT
    answerPlainHttp(socket, { answer, within }, () => Reflect.apply(handshake, server, [socket]))
  })
  return server
}

async function answerProxy(
  ports: VerifyPorts,
  { method = '', url = '', rawHeaders }: IncomingMessage,
  requestId: string,
): Promise<BrowserAnswer & { readonly about?: object }> {
  const [path = ''] = url.split('?')
  const fields = fieldsOf(rawHeaders)
  const isVerify = path === VERIFY || path.startsWith(`${VERIFY}/`)
  const rest = isVerify ? url.slice(VERIFY.length) : ''
  const asked = readForwarded({ method, rest, fields, requestId })
  if ('fault' in asked) {
    const visit: Visit = {
      origin: '',
      method,
      target: '/',
      fields: [],
      isUpgrade: false,
      requestId,
    }
    const why = `the request of the proxy ${asked.fault}`
    return { ...answerWith(visit, { code: 'BAD_REQUEST' }), about: { why } }
  }
  const { visit, canRedirect } = asked
  if (isVerify) {
    const [original = ''] = visit.target.split('?')
    const { host } = new URL(visit.origin)
    const about = { host: shortened(host), method: visit.method, path: shortened(original) }
    return { ...(await verifyVisit(ports, visit, { canRedirect })), about }
  }
  const name = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : ''
  if (name === 'jwks.json') return keySet(ports)
  const route = SITE_ROUTES.find((one) => one === name)
  if (route === undefined) return answerWith(visit, { code: 'NOT_FOUND' })
  const wanted = visit.target === '/' ? undefined : visit.target
  const site = { ...ports, brand: () => brandOf(ports.router) }
  return answerSite(site, route, { ...visit, method, target: url, isUpgrade: false }, wanted)
}

/** The keys of the identity JWTs, in the form of RFC 7517 §5. */
export function keySet({ jwts }: Pick<VerifyPorts, 'jwts'>): BrowserAnswer {
  return {
    status: 200,
    fields: [['content-type', 'application/jwk-set+json'], ...NOT_STORED],
    body: JSON.stringify({ keys: jwts?.keys ?? [] }),
  }
}
