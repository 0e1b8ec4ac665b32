/**
 * The request that a proxy asks about, as its fields describe it: `X-Forwarded-…` (Traefik, Caddy, HAProxy),
 * `X-Original-…` (nginx), or the request itself behind `/.latchkey/verify` (Envoy). D-413. Only for callers that are
 * proxies: any other caller could write these fields.
 */
import { parseHostPort } from '../../base/host-port.ts'
import { originOf, type Visit } from '../browser/visit.ts'
import { type Field, isIdentityField, valuesOf } from '../http/fields.ts'

export interface Asked {
  readonly visit: Visit
  /** nginx cannot pass a redirect on. */
  readonly canRedirect: boolean
}

const HTTPS_PORT = 443
const METHOD = /^[A-Z]{1,32}$/
const PATH = /^\/[!-~]*$/

/** Returns what is wrong with it, as the end of a sentence that begins with "the request of the proxy". */
export function readForwarded(request: {
  readonly method: string
  /** What follows `/.latchkey/verify`, with the query; empty if nothing does. */
  readonly rest: string
  readonly fields: readonly Field[]
  readonly requestId: string
}): Asked | { readonly fault: string } {
  const { fields, requestId, rest } = request
  const given = readFields(fields)
  if ('fault' in given) return given
  // D-426: a question that goes on behind the path is the request itself, and fields that differ are the client's. Caddy
  // leaves the query of the request in the question, and describes the request in fields.
  if (rest.startsWith('/') && describesAnother(given, request.method)) return DESCRIBES_TWO
  const { original } = given
  const protocol = given.protocol ?? original?.protocol ?? 'https:'
  if (protocol !== 'https' && protocol !== 'https:') {
    return { fault: 'is about plain HTTP: browsers keep the cookie only with https' }
  }
  const host = given.host ?? original?.host ?? given.ownHost
  const isHost = host !== undefined && parseHostPort(host, HTTPS_PORT) !== undefined
  const origin = isHost ? originOf(host) : undefined
  if (origin === undefined) return { fault: 'has no valid host' }
  const method = given.method ?? request.method
  if (!METHOD.test(method)) return { fault: 'has no valid method' }
  const path =
    given.path ?? (original === undefined ? rest : `${original.pathname}${original.search}`)
  return {
    visit: {
      origin,
      method,
      target: PATH.test(path) ? path : '/',
      fields,
      isUpgrade: isWebSocket(fields),
      requestId,
    },
    canRedirect: !given.isNginx,
  }
}

interface Described {
  readonly method: string | undefined
  readonly host: string | undefined
  readonly ownHost: string | undefined
  readonly path: string | undefined
  readonly protocol: string | undefined
  readonly original: URL | undefined
  readonly isNginx: boolean
}

const DESCRIBES_TWO = { fault: 'describes two requests' }

function describesAnother({ method, host, original, ownHost }: Described, asked: string): boolean {
  const named = host ?? original?.host
  const isElsewhere = named !== undefined && originOf(named) !== originOf(ownHost ?? '')
  return isElsewhere || (method !== undefined && method !== asked)
}

function readFields(fields: readonly Field[]): Described | { readonly fault: string } {
  const repeated = NAMES.find((name) => valuesOf(fields, name).length > 1)
  if (repeated !== undefined) return { fault: `has ${repeated} twice` }
  if (fields.some(isIdentityField)) return { fault: 'has fields that only the gateway may write' }
  const one = (name: (typeof NAMES)[number]) => valuesOf(fields, name)[0]
  const url = one('x-original-url')
  const original = url === undefined ? undefined : (URL.parse(url) ?? undefined)
  // nginx users write a path into either.
  const originalPath = url !== undefined && original === undefined ? url : one('x-original-uri')
  const described: readonly (readonly [string | undefined, string | undefined])[] = [
    [one('x-forwarded-method'), one('x-original-method')],
    [originOf(one('x-forwarded-host') ?? ''), originOf(original?.host ?? '')],
  ]
  // D-426: a proxy writes one kind, and may pass on what a client wrote into the other.
  if (described.some(([one, other]) => one !== undefined && other !== undefined && one !== other)) {
    return DESCRIBES_TWO
  }
  return {
    method: one('x-forwarded-method') ?? one('x-original-method'),
    host: one('x-forwarded-host'),
    ownHost: one('host'),
    path: one('x-forwarded-uri') ?? originalPath,
    protocol: one('x-forwarded-proto'),
    original,
    isNginx: url !== undefined || originalPath !== undefined,
  }
}

const NAMES = [
  'host',
  'x-forwarded-method',
  'x-forwarded-host',
  'x-forwarded-uri',
  'x-forwarded-proto',
  'x-original-method',
  'x-original-url',
  'x-original-uri',
] as const

/** Proxies remove `Upgrade`, which is about their own connection. Pages cannot leave out the others. */
function isWebSocket(fields: readonly Field[]): boolean {
  const isAsked = fields.some(([name]) => /^(?:sec-websocket-key|upgrade)$/i.test(name))
  return isAsked || valuesOf(fields, 'sec-fetch-mode').includes('websocket')
}
