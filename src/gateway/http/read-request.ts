/**
 * Checks a request before its sender is authenticated: it must be unambiguous, with at most one credential. D-42.
 * Node's parser is already strict; this refuses requests that are well-formed and still mean different things to two
 * servers (RFC 9112 §11.2).
 */
import type { IncomingMessage } from 'node:http'
import { parseHostPort } from '../../base/host-port.ts'
import { DPOP_HEADER, ZT_SESSION_HEADER } from '../../protocol/headers.ts'
import type { Presented } from '../../router/router.ts'
import { type Field, fieldsOf, valuesOf } from './fields.ts'
import { readHttp2Head } from './read-http2.ts'

export interface InboundRequest {
  readonly method: string
  /** Origin-form, unchanged: RFC 9112 §3.2.1. */
  readonly target: string
  /** The Host field, unchanged. */
  readonly host: string
  /** The name in it: in lower case, without port and without the dot of a complete name (RFC 1034 §3.1). */
  readonly hostName: string
  readonly fields: readonly Field[]
  readonly token: Presented['token']
  readonly body: Body
}

export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: string }
  | { readonly kind: 'chunked' }

const DEFAULT_PORT = 443

/** Servers differ on a target with a fragment, or with bytes that are not URI characters. */
const ORIGIN_FORM = /^\/[!"$-~]*$/

/** Returns the request, or what is wrong with it. */
export function readRequest(message: IncomingMessage): InboundRequest | { readonly fault: string } {
  const { method = '', url: target = '' } = message
  const head = readHead(message)
  if ('fault' in head) return head
  const { fields } = head
  if (!ORIGIN_FORM.test(target)) return { fault: 'its target is not a plain path' }
  const hosts = valuesOf(fields, 'host')
  const [host = ''] = hosts
  if (hosts.length !== 1) return { fault: 'it does not have one Host' }
  const hostName = parseHostPort(host.replace(/\.(?=:\d+$|$)/, ''), DEFAULT_PORT)?.host
  if (hostName === undefined) return { fault: 'its Host is not valid' }
  const body = head.isWithoutBody ? ({ kind: 'none' } as const) : readBody(fields, head.otherwise)
  if ('fault' in body) return body
  const token = readToken(fields, { method, uri: `https://${host}${target}` })
  if (token !== undefined && 'fault' in token) return token
  return { method, target, host, hostName, fields, token, body }
}

interface Head {
  readonly fields: readonly Field[]
  /** Whether it certainly has no body. */
  readonly isWithoutBody: boolean
  /** Its body, if no field describes it. */
  readonly otherwise: Body
}

function readHead(message: IncomingMessage): Head | { readonly fault: string } {
  switch (message.httpVersion) {
    case '1.1': {
      const fields = fieldsOf(message.rawHeaders)
      return { fields, isWithoutBody: false, otherwise: { kind: 'none' } }
    }
    case '2.0': {
      const head = readHttp2Head(message)
      return 'fault' in head ? head : { ...head, otherwise: { kind: 'chunked' } }
    }
    default:
      return { fault: 'it is neither HTTP/1.1 nor HTTP/2' }
  }
}

function readBody(fields: readonly Field[], otherwise: Body): Body | { readonly fault: string } {
  const lengths = valuesOf(fields, 'content-length')
  const codings = valuesOf(fields, 'transfer-encoding')
  const [length] = lengths
  const [coding] = codings
  if (lengths.length + codings.length > 1) return { fault: 'its length is repeated' }
  if (length !== undefined) {
    return /^\d{1,15}$/.test(length)
      ? { kind: 'length', length }
      : { fault: 'its length is not valid' }
  }
  if (coding === undefined) return otherwise
  return coding.toLowerCase() === 'chunked'
    ? { kind: 'chunked' }
    : { fault: 'its transfer coding is not chunked alone' }
}

/** RFC 6750 §2.1. A token of another scheme counts as missing. */
const BEARER = /^bearer +([\w.~+/-]+=*)$/i
/** RFC 9449 §7.1. */
const DPOP = /^dpop +([\w.~+/-]+=*)$/i

function readToken(
  fields: readonly Field[],
  request: { readonly method: string; readonly uri: string },
): Presented['token'] | { readonly fault: string } {
  const authorizations = valuesOf(fields, 'authorization')
  const ztSessions = valuesOf(fields, ZT_SESSION_HEADER)
  const [authorization] = authorizations
  const [ztSession] = ztSessions
  if (authorizations.length + ztSessions.length > 1) return { fault: 'it has two credentials' }
  if (ztSession !== undefined) return { ztSession }
  if (authorization === undefined) return undefined
  if (/^dpop\b/i.test(authorization)) {
    const dpop = DPOP.exec(authorization)?.[1]
    if (dpop === undefined) return { fault: 'its DPoP token is not one token' }
    const [proof, ...others] = valuesOf(fields, DPOP_HEADER)
    return { dpop, proof: others.length === 0 ? proof : undefined, ...request }
  }
  if (!/^bearer\b/i.test(authorization)) return undefined
  const bearer = BEARER.exec(authorization)?.[1]
  return bearer === undefined ? { fault: 'its bearer token is not one token' } : { bearer }
}
