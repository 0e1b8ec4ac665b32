/**
 * The routes of one web listener: a Fastify instance that has exactly the APIs bound there. What is not bound is
 * not registered, and so is 404. One log line a request; never a query, a body or a header value.
 */
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { newId, type RequestId } from '../base/ids.ts'
import type { Random } from '../base/random.ts'
import { Failure } from '../errors/catalogue.ts'
import { REQUEST_ID_HEADER } from '../protocol/headers.ts'
import { addBodyParsers } from './body.ts'
import {
  answerError,
  BODY_LIMIT,
  createRouter,
  type Route,
  type RouteDependencies,
} from './route.ts'

export interface ListenerApp {
  readonly app: FastifyInstance
  readonly routes: readonly Route[]
}

export function createListenerApp(
  use: RouteDependencies & { readonly random: Random },
  addRoutes: (router: ReturnType<typeof createRouter>) => void,
): ListenerApp {
  const { log, clock, random, brand } = use
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    // Ours alone: an id from outside could be made to look like another request's.
    requestIdHeader: false,
    genReqId: () => newId<RequestId>(random),
    routerOptions: { querystringParser: () => ({}) },
    frameworkErrors: (error, request, reply) => answerError(error, request, reply, { brand, log }),
  })
  addBodyParsers(app)
  app.decorateRequest('session', undefined)
  app.decorateRequest('identity', undefined)
  app.decorateRequest('failure', undefined)
  app.decorateRequest('begunAt', 0)

  app.addHook('onRequest', async (request, reply) => {
    request.begunAt = clock.uptime()
    reply.header(REQUEST_ID_HEADER, request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    log.info(requestLine(request, reply.statusCode, clock.uptime() - request.begunAt), 'request')
  })
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, { brand, log }))
  app.setNotFoundHandler((request, reply) =>
    answerError(new Failure('NOT_FOUND'), request, reply, { brand, log }),
  )

  const router = createRouter(app, use)
  addRoutes(router)
  router.close()
  return { app, routes: router.table }
}

/** The route's pattern, not the path: ids and codes stay out of the log (R034). */
function requestLine(request: FastifyRequest, status: number, milliseconds: number): object {
  const { failure, identity } = request
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'none',
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    address: request.ip,
    ...(identity === undefined ? {} : { identity }),
    ...(request.session === undefined ? {} : { session: request.session.sessionId }),
    ...(failure === undefined ? {} : { code: failure.code, reason: failure.detail }),
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    begunAt: number
  }
}
