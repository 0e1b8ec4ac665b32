/**
 * Header fields on their way through the gateway, in both directions: what is removed and what is added. D-42. Every
 * credential, and every field that the upstream trusts from us, is removed in each spelling that a server behind us may
 * confuse with it: CGI and similar interfaces turn everything but letters and digits into `_` (RFC 3875 §4.1.18).
 */

import { isOwnCookie, withoutOwnCookies } from './own-cookies.ts'

/** Name and value. */
export type Field = readonly [name: string, value: string]

/** The prefix of the fields that tell the upstream who calls. */
const IDENTITY_PREFIX = 'x-latchkey-'

/** What the gateway adds to a request. */
export interface OwnFields {
  readonly host: string
  readonly identityId: string
  readonly sessionId: string
  readonly requestId: string
  readonly remoteAddress: string
  /** The Host that the client sent. */
  readonly forwardedHost: string
}

export function fieldsOf(rawHeaders: readonly string[]): readonly Field[] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, i): Field => {
    return [rawHeaders[2 * i] ?? '', rawHeaders[2 * i + 1] ?? '']
  })
}

/** Returns every value of a field, unchanged. `name` must be in lower case. */
export function valuesOf(fields: readonly Field[], name: string): readonly string[] {
  return fields.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value)
}

/** The only value of a field; undefined if it is missing or repeated. */
export function onlyValue(fields: readonly Field[], name: string): string | undefined {
  const [value, ...others] = valuesOf(fields, name)
  return others.length === 0 ? value : undefined
}

/** Returns the fields for the upstream, without the framing of the body and without `Connection`. */
export function upstreamFields(fields: readonly Field[], own: OwnFields): readonly Field[] {
  return [
    ['host', own.host],
    ...withoutHopByHop(fields)
      .filter(([name]) => !isReserved(plainName(name)))
      .flatMap(withoutOurCookies),
    [`${IDENTITY_PREFIX}identity-id`, own.identityId],
    [`${IDENTITY_PREFIX}session-id`, own.sessionId],
    ['x-request-id', own.requestId],
    ['x-forwarded-for', own.remoteAddress],
    ['x-forwarded-host', own.forwardedHost],
    ['x-forwarded-proto', 'https'],
  ]
}

/**
 * Returns the response fields for the client. The upstream's length stays, because our parser has checked it; but not that
 * of a 204, which has no body (RFC 9110 §8.6): a client that believed it would take the next response for the body.
 */
export function clientFields(
  fields: readonly Field[],
  requestId: string,
  status?: number,
): readonly Field[] {
  const kept = withoutHopByHop(fields).filter(([name, value]) => {
    const plain = plainName(name)
    if (plain === 'content-length') return status !== NO_CONTENT
    return plain !== 'x-request-id' && !(plain === 'set-cookie' && isOwnCookie(value))
  })
  return [...kept, ['x-request-id', requestId]]
}

const NO_CONTENT = 204

function withoutOurCookies([name, value]: Field): readonly Field[] {
  if (plainName(name) !== 'cookie') return [[name, value]]
  const kept = withoutOwnCookies(value)
  return kept === undefined ? [] : [[name, kept]]
}

/** RFC 9110 §7.6.1, and what older servers add to it. A CGI program would see `Proxy` as HTTP_PROXY. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'proxy',
])

/** Also those that `Connection` names, but never the length: a client must not choose how its body is framed. */
function withoutHopByHop(fields: readonly Field[]): readonly Field[] {
  const named = new Set(
    valuesOf(fields, 'connection').flatMap((value) =>
      value.split(',').map((name) => plainName(name.trim())),
    ),
  )
  return fields.filter(([name]) => {
    const plain = plainName(name)
    if (HOP_BY_HOP.has(plain) || plain.startsWith('proxy-')) return false
    return plain === 'content-length' || !named.has(plain)
  })
}

/** Set by us, or hidden from the upstream. The length and the expectation belong to the framing of this hop. */
const RESERVED: ReadonlySet<string> = new Set([
  'authorization',
  'dpop',
  'zt-session',
  'host',
  'content-length',
  'expect',
  'forwarded',
  'x-request-id',
  'x-real-ip',
  'x-rewrite-url',
  // RFC 9440 §2.4: only whoever ends the TLS of the client may say which certificate it has.
  'client-cert',
  'client-cert-chain',
])

/** D-467: what proxies tell a server about the request. Some servers serve the path of `X-Original-URL` instead. */
const RESERVED_PREFIXES = [IDENTITY_PREFIX, 'x-forwarded-', 'x-original-']

function isReserved(plain: string): boolean {
  return RESERVED_PREFIXES.some((prefix) => plain.startsWith(prefix)) || RESERVED.has(plain)
}

/** Whether a server behind us could mistake it for a field that identifies the caller. */
export const isIdentityField = ([name]: Field) => plainName(name).startsWith(IDENTITY_PREFIX)

/** Returns one spelling for all names that could be confused. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-')
}
