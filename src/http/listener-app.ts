/**
 * The routes of one web listener: a Fastify instance with exactly the APIs bound there. An API that is not bound is not
 * registered, so it is 404. Each request gets one log line, which never has a query, a body or a header value.
 */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { newId, type RequestId } from '../base/ids.ts'
import { isIn, type Network, parseAddress } from '../base/network.ts'
import type { Random } from '../base/secrets/random.ts'
import { Failure } from '../errors/catalogue.ts'
import { REQUEST_ID_HEADER } from '../protocol/headers.ts'

import type { Answer } from './answer.ts'
import { lookOf } from './pages/presented.ts'
import { addBodyParsers } from './reading/body.ts'
import { rawValues } from './reading/header-fields.ts'
import type { RequestObserver } from './request-observer.ts'
import { recordOf } from './request-record.ts'
import type { Route } from './route.ts'
import {
  answerError,
  BODY_LIMITS,
  createRouter,
  type RouteDependencies,
  refuseMethod,
  START_PATH,
} from './router.ts'

/** RFC 6797 §6.1: one year. Subdomains are not included, because they may belong to others. */
const STRICT_TRANSPORT = 'max-age=31536000'

export function createListenerApp(
  use: RouteDependencies & {
    readonly random: Random
    /** R111: the proxies whose `X-Forwarded-For` is trusted. */
    readonly trustedProxies: readonly Network[]
    readonly observer: RequestObserver
    /** D-318: what existing clients expect in an error. */
    readonly reshapeFailure?: ((answer: Answer) => Answer) | undefined
    /**
     * D-200: whether responses tell browsers to use only https. Checked for each response, because certificates are
     * replaced.
     */
    readonly strictTransportSecurity: () => boolean
  },
  addRoutes: (router: ReturnType<typeof createRouter>) => void,
): { readonly app: FastifyInstance; readonly routes: readonly Route[] } {
  const { ports, log, random, observer, reshapeFailure: reshape } = use
  const { clock, brand } = ports
  const look = lookOf(use.branding)
  const app = Fastify({
    logger: false,
    // Routes that authenticate before reading the body raise this limit.
    bodyLimit: BODY_LIMITS.anonymous,
    // Only our own ids: a caller could choose an id that looks like another request's.
    requestIdHeader: false,
    trustProxy: (address: string) => isTrusted(address, use.trustedProxies),
    genReqId: () => newId<RequestId>(random),
    routerOptions: { querystringParser: () => ({}) },
    // zod checks shapes and JSON.stringify writes responses; Fastify's own compilers would only be loaded for nothing.
    schemaController: {
      compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler },
    },
    // Raised before the hooks run, so do their work here.
    frameworkErrors: (error, request, reply) => {
      addGeneralHeaders(request, reply)
      failed(error, request, reply)
      finish(request, reply.statusCode, 0)
    },
  })
  addBodyParsers(app)
  app.decorateRequest('record', undefined)
  // Register this first: metrics, traces and the log name the address even if the method is wrong.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) recordOf(request).address = router.findAddress(request.raw.url ?? '')
    done()
  })
  if (observer.trace !== undefined) traceRequests(app, observer.trace)

  app.addHook('onRequest', (request, reply, done) => {
    const record = recordOf(request)
    record.begunAt = clock.uptime()
    addGeneralHeaders(request, reply)
    // D-104, RFC 9112 §3.2: two readers could interpret a missing or repeated Host field differently.
    const hosts = rawValues(request.raw, 'host').length
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) {
      throw new Failure('BAD_REQUEST', { detail: 'not exactly one Host field' })
    }
    // Check this before the body is read, so that we do not read it in vain.
    if (record.address !== undefined) refuseMethod(request, reply, record.address)
    if (request.is404) throw new Failure('NOT_FOUND')
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    finish(request, reply.statusCode, clock.uptime() - (recordOf(request).begunAt ?? 0))
    done()
  })
  app.setErrorHandler(failed)

  function failed(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const hasStart = router.table.some(({ url }) => url === START_PATH)
    return answerError(error, request, reply, { brand, look, log, reshape, hasStart })
  }

  function addGeneralHeaders(request: FastifyRequest, reply: FastifyReply): void {
    reply.header(REQUEST_ID_HEADER, request.id)
    if (use.strictTransportSecurity()) reply.header('strict-transport-security', STRICT_TRANSPORT)
  }

  function finish(request: FastifyRequest, status: number, milliseconds: number): void {
    const { method } = request
    const route = patternOf(request)
    const { trace, failure } = recordOf(request)
    trace?.end(status, failure?.code)
    observer.answered({ method, route, status, milliseconds })
    const isQuiet = request.routeOptions.config.isProbe === true && status < 400
    log[isQuiet ? 'debug' : 'info'](requestLine(request, status, milliseconds), 'request')
  }

  const router = createRouter(app, { ...use, look })
  addRoutes(router)
  router.close()
  return { app, routes: router.table }
}

/** Runs a handler in the context of its request. Body bytes arrive in another context, so this is set twice. */
function traceRequests(app: FastifyInstance, trace: NonNullable<RequestObserver['trace']>): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // Polled every second, with the same result each time.
    if (request.routeOptions.config.isProbe === true) return void done()
    recordOf(request).trace = trace({
      method: request.method,
      route: patternOf(request),
      requestId: request.id,
      httpVersion: request.raw.httpVersion,
      traceparent: rawValues(request.raw, 'traceparent').join(', ') || undefined,
    })
    inTrace(request, done)
  })
  app.addHook('preValidation', (request, _reply, done) => inTrace(request, done))
}

function inTrace(request: FastifyRequest, done: () => void): void {
  const { trace } = recordOf(request)
  if (trace === undefined) done()
  else trace.run(done)
}

function isTrusted(text: string, proxies: readonly Network[]): boolean {
  const address = proxies.length === 0 ? undefined : parseAddress(text)
  return address !== undefined && proxies.some((network) => isIn(address, network))
}

function noCompiler(): never {
  throw new Error('no route has a schema for Fastify')
}

/** The route's pattern, not the path: ids and codes stay out of logs, metrics and traces (R034). */
function patternOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? recordOf(request).address?.url ?? 'none'
}

function requestLine(request: FastifyRequest, status: number, milliseconds: number): object {
  const { failure, identity, sessionId } = recordOf(request)
  return {
    requestId: request.id,
    method: request.method,
    route: patternOf(request),
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    address: request.ip,
    ...(identity === undefined ? {} : { identity }),
    ...(sessionId === undefined ? {} : { session: sessionId }),
    ...(failure === undefined ? {} : { code: failure.code, reason: failure.detail }),
  }
}
