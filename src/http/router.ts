/**
 * The only way to add a route. Authenticates before reading the body, gives the handler its `Call`, writes its
 * `Answer`, and lists every route in a table for the OpenAPI documents and the tests.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type FormFields, parseForm } from '../base/form.ts'
import type { RequestId } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Instant, toRfc3339 } from '../base/time/instant.ts'
import type { Caller } from '../domain/audit/events.ts'
import { authenticateCall } from '../domain/calls/authenticate-call.ts'
import type { CallPorts } from '../domain/calls/ports.ts'
import { authenticateRouter } from '../domain/calls/routers/authenticate-router.ts'
import type { ListFields } from '../domain/lists/list-query.ts'
import { invalid } from '../domain/refusals.ts'
import { type CallSession, sessionGone } from '../domain/sessions/call-session.ts'
import { writeEndingId } from '../domain/sessions/confirming/ending-id.ts'
import { CATALOGUE, Failure } from '../errors/catalogue.ts'
import {
  DPOP_NONCE_HEADER,
  ENDING_HEADER,
  EXPIRATION_SECONDS_HEADER,
  EXPIRES_AT_HEADER,
} from '../protocol/headers.ts'
import type { BrandingSettings } from '../web/login/look/branding.ts'
import { type Address, borrowedMethods, type FindAddress, findAmong } from './addresses.ts'
import { type Answer, type HeaderFields, sendAnswer } from './answer.ts'
import type { Call } from './call.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { asFailure, type Face, failureAnswer } from './error-replies.ts'
import type { ListenerAddresses } from './issuers.ts'
import { type Look, presentationOf, presented } from './pages/presented.ts'
import { bearersOf, dpopTokensOf, ztSessionOf } from './reading/bearers.ts'
import { type Body, MOST_ENTRIES, refuseManyFields } from './reading/body.ts'
import { wantedContent } from './reading/negotiation.ts'
import { fingerprintOf, presentedChain } from './reading/peer-certificate.ts'
import { presentedProof, usesDpop } from './reading/presented-proof.ts'
import { recordOf } from './request-record.ts'
import {
  ALWAYS,
  type AuthenticatedAccess,
  type DeclaredRoute,
  isAnonymous,
  type Route,
} from './route.ts'

/** D-44, D-205: the body limit for callers without credentials, on every route, and the limit for other callers. */
export const BODY_LIMITS = { anonymous: 64 * 1024, authenticated: 1024 * 1024 } as const

export interface RouteDependencies {
  readonly ports: CallPorts
  /** Set once the listener is listening. */
  readonly addresses: () => ListenerAddresses
  readonly corsOrigins: readonly string[]
  readonly branding: BrandingSettings
  readonly log: Log
}

/** Collects the routes of one listener and writes them into its Fastify instance. */
export interface Router {
  add<const R extends DeclaredRoute>(
    route: R,
    handler: (call: Call<R['access']>) => Promise<Answer> | Answer,
  ): void
  /** Returns the fields that callers of a list may name. Default: those that its route declares. */
  readonly listFields?: (declared: ListFields) => ListFields
  /** Adds the preflights, and keeps addresses separate. Called once, at the end. */
  close(): void
  /** Returns the response to a method that an address does not have. */
  readonly findAddress: FindAddress
  readonly table: readonly Route[]
}

export function createRouter(
  app: FastifyInstance,
  use: Omit<RouteDependencies, 'branding'> & { readonly look: Look },
): Router {
  const table: Route[] = []

  function add<const R extends DeclaredRoute>(
    declared: R,
    handler: (call: Call<R['access']>) => Promise<Answer> | Answer,
  ): void {
    const route: Route = { cors: 'none', reads: [], ...declared }
    table.push(route)
    const trust = isAnonymous(route) ? 'anonymous' : 'authenticated'
    app.route({
      method: route.method,
      url: route.url,
      bodyLimit: BODY_LIMITS[trust],
      config: {
        face: route.face,
        reads: route.reads,
        isProbe: route.isProbe ?? false,
        mostEntries: MOST_ENTRIES[trust],
      },
      // Hooks that wait for nothing are not async: each promise costs every request a few microseconds.
      onRequest: (request, reply, done) => {
        reply.headers(corsHeaders(request.raw, route.cors, use.corsOrigins))
        if (usesDpop(request.raw)) reply.header(DPOP_NONCE_HEADER, use.ports.dpopNonces.current())
        done()
      },
      // Authenticate before reading the body, so that an anonymous caller cannot make us buffer it.
      preParsing: async (request, reply) => {
        if (route.access === 'public' || route.access === 'login') return
        const record = recordOf(request)
        if (route.access === 'router') {
          const chain = presentedChain(request.raw)
          record.identity = await authenticateRouter(use.ports, chain, callerOf(request))
          return
        }
        const session = await authenticate(request, reply, route.access)
        record.session = session
        record.identity = session.identityId
        record.sessionId = session.sessionId
        if (route.access === 'admin' && !session.isAdmin) throw new Failure('FORBIDDEN')
      },
      handler: async (request, reply) => {
        const call = callOf<R['access']>(request, route, use)
        // D-380: short calls do not wait for several long ones.
        if (route.method === 'POST') await use.ports.loopTurns.next()
        refuseEnded(recordOf(request).session)
        const { result: answer, ended } = await use.ports.collectedEndings.collect(async () =>
          handler(call),
        )
        // Callers without credentials learn nothing from it (R071): whether a token was valid, for example.
        if (ended !== undefined && !isAnonymous(route)) {
          reply.header(ENDING_HEADER, writeEndingId(use.ports.vault, ended))
        }
        if (answer.failure !== undefined) recordOf(request).failure = answer.failure
        return sendAnswer(reply, presented(answer, request.raw, use.look))
      },
      onSend: (request, reply, _payload, done) => {
        const { statusCode: status } = reply
        if (!route.replies.includes(status) && !ALWAYS.includes(status)) {
          const { url, method } = route
          use.log.error({ requestId: request.id, method, url, status }, UNDECLARED)
        }
        done()
      },
    })
  }

  async function authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
    access: AuthenticatedAccess,
  ): Promise<CallSession> {
    const session = await authenticateCall(
      use.ports,
      {
        bearers: bearersOf(request.raw),
        dpop: {
          ...presentedProof(request.raw, use.addresses),
          tokens: dpopTokensOf(request.raw),
        },
        ztSession: ztSessionOf(request.raw),
        certificate: () => fingerprintOf(presentedChain(request.raw)),
      },
      access === 'partial' || access === 'logout' ? access : 'full',
    )
    // D-39: on every authenticated response, including errors.
    reply.headers(expiryHeaders(session.expiresAt, use.ports.clock))
    return session
  }

  /** D-491: the body may have taken half a minute, and the session may have ended since the header was read. */
  function refuseEnded(session: CallSession | undefined): void {
    const { endedSessions, brand } = use.ports
    if (session !== undefined && endedSessions.has(session.sessionId)) {
      throw sessionGone(brand, session)
    }
  }

  function close(): void {
    const addresses = addressesOf(table)
    for (const address of addresses) if (address.cors !== 'none') answerPreflights(address)
    for (const { address, methods } of borrowedMethods(addresses)) refuseMethods(address, methods)
  }

  function answerPreflights({ url, cors, allow }: RoutedAddress): void {
    app.options(url, async (request, reply) => {
      const headers = preflightHeaders(request.raw, cors, use.corsOrigins, allow)
      return sendAnswer(reply, { status: 204, headers: { ...headers, allow: allow.join(', ') } })
    })
  }

  function refuseMethods(address: RoutedAddress, methods: readonly string[]): void {
    app.route({
      method: [...methods],
      url: address.url,
      onRequest: async (request, reply) => refuseMethod(request, reply, address),
      handler: () => undefined,
    })
  }

  return { add, close, findAddress: findAmong(() => addressesOf(table)), table }
}

/** D-45. In a hook before the body, so that we do not read a body in vain. */
export function refuseMethod(
  request: FastifyRequest,
  reply: FastifyReply,
  address: Address,
): never {
  recordOf(request).address = address
  reply.header('allow', address.allow.join(', '))
  throw new Failure('METHOD_NOT_ALLOWED')
}

type RoutedAddress = Address & Pick<Route, 'cors'>

function addressesOf(table: readonly Route[]): readonly RoutedAddress[] {
  return [...Map.groupBy(table, (route) => route.url)].map(([url, routes]) => {
    const [{ cors, face }] = routes as [Route, ...Route[]]
    const allow = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    return { url, allow, cors, face }
  })
}

/** SPEC Response headers, D-39. */
export function expiryHeaders(expiresAt: Instant, clock: Pick<Clock, 'now'>): HeaderFields {
  return {
    [EXPIRATION_SECONDS_HEADER]: String(secondsLeft(expiresAt, clock)),
    [EXPIRES_AT_HEADER]: toRfc3339(expiresAt),
  }
}

export function secondsLeft(expiresAt: Instant, clock: Pick<Clock, 'now'>): number {
  return Math.max(0, Math.floor((expiresAt - clock.now()) / 1_000))
}

/** Every test whose service logged this line fails. */
export const UNDECLARED = 'a route answered with a status that it does not declare'

function callOf<A extends Route['access']>(
  request: FastifyRequest,
  route: Route,
  { look, addresses }: Pick<RouteDependencies, 'addresses'> & { readonly look: Look },
): Call<A> {
  const { raw } = request
  return {
    method: request.method,
    headers: raw.headers,
    rawHeaders: raw.rawHeaders,
    query: readQuery(request),
    path: request.params as Record<string, string>,
    body: (request.body ?? { kind: 'none' }) as Body,
    wantsHtml: readWanted(request, route) === 'html',
    get presentation() {
      return presentationOf(raw, look)
    },
    caller: callerOf(request),
    session: recordOf(request).session as Call<A>['session'],
    certificateChain: () => presentedChain(raw),
    presentedProof: () => presentedProof(raw, addresses),
    isFrom({ identityId, sessionId }) {
      Object.assign(recordOf(request), {
        identity: identityId,
        ...(sessionId === undefined ? {} : { sessionId }),
      })
    },
  }
}

function readQuery(request: FastifyRequest): FormFields {
  const { url = '' } = request.raw
  const mark = url.indexOf('?')
  if (mark < 0) return new Map()
  const text = url.slice(mark + 1)
  refuseManyFields(text, 'query')
  const fields = parseForm(text)
  if (fields === undefined) throw invalid('query', 'is not percent-encoded UTF-8')
  return fields
}

/** D-11: a login endpoint that has no acceptable response for the caller says so before it does anything. */
function readWanted(request: FastifyRequest, route: Route): 'html' | 'json' {
  if (!route.face.pages) return 'json'
  const wanted = wantedContent(request.raw)
  if (wanted === undefined && route.access === 'login') throw new Failure('NOT_ACCEPTABLE')
  return wanted ?? 'json'
}

function callerOf(request: FastifyRequest): Caller {
  const { session } = recordOf(request)
  return {
    address: request.ip,
    requestId: request.id as RequestId,
    userAgent: request.headers['user-agent']?.slice(0, 256),
    ...(session === undefined ? {} : { actorId: session.identityId }),
  }
}

/** Where `start.ts` leads on from, on listeners that have it. */
export const START_PATH = '/'

/** D-340: a route was reached, but the page cannot know where its reader came from. */
function needsWayOn({ code }: Failure): boolean {
  return code === 'NOT_FOUND' || code === 'COULD_NOT_VALIDATE'
}

/** Turns any thrown error into a response in the route's format, and logs the internal details. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  use: {
    readonly brand: string
    readonly look: Look
    readonly log: Log
    readonly reshape: ((answer: Answer) => Answer) | undefined
    /** Whether the listener has a start page. */
    readonly hasStart: boolean
  },
): FastifyReply {
  const failure = asFailure(error, request.raw)
  const record = recordOf(request)
  record.failure = failure
  if (failure.code === 'UNHANDLED') {
    use.log.error({ requestId: request.id, err: failure.cause }, 'a request failed unexpectedly')
  }
  // Close the connection: the unread bytes of a rejected body would be parsed as the next request.
  if (CATALOGUE[failure.code].status === 413) reply.header('connection', 'close')
  const declared = record.address?.face ?? request.routeOptions.config.face
  // D-340: no route was reached, so a browser that asks for a page gets one, whatever the routes there answer.
  const isLost = declared === undefined || failure.code === 'METHOD_NOT_ALLOWED'
  const { json, pages } = declared ?? { json: 'api', pages: false }
  const answer = failureAnswer(failure, {
    face: { json, pages: pages || isLost },
    start: (isLost || needsWayOn(failure)) && use.hasStart ? START_PATH : undefined,
    wantsHtml: wantedContent(request.raw) === 'html',
    requestId: request.id,
    brand: use.brand,
    presentation: presentationOf(request.raw, use.look),
  })
  return sendAnswer(reply, presented(use.reshape?.(answer) ?? answer, request.raw, use.look))
}

declare module 'fastify' {
  interface FastifyContextConfig {
    face?: Face
    reads?: Route['reads']
    isProbe?: boolean
    mostEntries?: number
  }
}
