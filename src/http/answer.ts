/**
 * A handler returns its response as a value. Only `sendAnswer` writes it to the connection.
 */
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Failure } from '../errors/catalogue.ts'
import { contentSecurityPolicy, type PagePolicy } from '../web/login/content-security-policy.ts'
import type { SafeHtml } from '../web/login/html.ts'
import { cookiesWithoutRoom } from './reading/cookie-room.ts'

export type HeaderFields = Readonly<Record<string, string>>

/** `S` and `T`: the status and the JSON, if the route declares them. */
export interface Answer<S extends number = number, T = unknown> {
  readonly status: S
  readonly headers?: HeaderFields
  /** One `set-cookie` field each. */
  readonly cookies?: readonly string[]
  /** The failure that the response shows as a page instead of throwing it, for the log. */
  readonly failure?: Failure
  readonly content?:
    | { readonly kind: 'json'; readonly value: T }
    | { readonly kind: 'page'; readonly html: SafeHtml | Buffer; readonly policy: PagePolicy }
    /** Sent unchanged, under its own content type. */
    | { readonly kind: 'text'; readonly type: string; readonly text: string | Buffer }
    /** Sent as it comes. May stay open until it is closed; the handler manages it. Default type: JSON lines. */
    | { readonly kind: 'lines'; readonly lines: Readable; readonly type?: string }
    | {
        readonly kind: 'image'
        readonly type: 'image/png' | 'image/svg+xml'
        readonly bytes: Buffer
      }
}

export function json<const S extends number, T>(
  status: S,
  value: T,
  headers: HeaderFields = {},
): Answer<S, T> {
  return { status, headers, content: { kind: 'json', value } }
}

export function text(
  type: string,
  content: string | Buffer,
  headers: HeaderFields = {},
): Answer<200, never> {
  return { status: 200, headers, content: { kind: 'text', type, text: content } }
}

export function page<const S extends number>(
  status: S,
  html: SafeHtml | Buffer,
  policy: PagePolicy = {},
  headers: HeaderFields = {},
): Answer<S, never> {
  return { status, headers, content: { kind: 'page', html, policy } }
}

/** Only the status and header fields. */
export function empty<const S extends number>(
  status: S,
  headers: HeaderFields = {},
): Answer<S, never> {
  return { status, headers }
}

/** 302, never 307 or 308: credentials must not be posted again (R021). */
export function redirect(location: string, headers: HeaderFields = {}): Answer {
  return { status: 302, headers: { location, ...headers } }
}

/**
 * A cookie whose name begins with `__Host-`: secure, only for this host, for every path (R113). Lax: also sent when a user
 * follows a link or returns from another site. Zero seconds delete it.
 */
export function hostCookie(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${seconds}`
}

/** Adds cookies to those that the response already has. */
export function withCookies<A extends Answer>(answer: A, cookies: readonly string[]): A {
  if (cookies.length === 0) return answer
  return { ...answer, cookies: [...(answer.cookies ?? []), ...cookies] }
}

/** D-482: here, because every page adds to the same field of the browser. */
function withinRoom(request: FastifyReply['request'], cookies: readonly string[]): string[] {
  const dropped = cookiesWithoutRoom(request, cookies)
  const isDropped = (line: string) => dropped.some((name) => line.startsWith(`${name}=`))
  const deleted = dropped.map((name) => hostCookie(name, '', 0))
  return [...cookies.filter((line) => !isDropped(line)), ...deleted]
}

export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  reply.code(answer.status)
  // D-33: nothing is cached unless the response says so. R022 for the rest.
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  reply.header('referrer-policy', 'same-origin') // D-50: no-referrer would turn Origin into null
  for (const [name, value] of Object.entries(answer.headers ?? {})) reply.header(name, value)
  if (answer.cookies !== undefined) {
    reply.header('set-cookie', withinRoom(reply.request, answer.cookies))
  }
  const { content } = answer
  if (content === undefined) return reply.send()
  if (content.kind === 'json') {
    // D-307: no charset. RFC 8259 §11 defines none, and clients compare the text. Without a serializer of ours, Fastify
    // adds it. A text goes to the socket in one write with the header; bytes need two TLS records.
    reply.header('content-type', 'application/json')
    return reply.serializer(JSON.stringify).send(content.value)
  }
  if (content.kind === 'text') {
    return reply.header('content-type', content.type).send(content.text)
  }
  if (content.kind === 'lines') {
    const { type = 'application/x-ndjson', lines } = content
    return reply.header('content-type', type).send(lines)
  }
  if (content.kind === 'image') {
    // An SVG that is opened on its own must not run scripts.
    reply.header('content-security-policy', contentSecurityPolicy({}))
    return reply.header('content-type', content.type).send(content.bytes)
  }
  reply.header('content-type', 'text/html; charset=utf-8')
  reply.header('content-security-policy', contentSecurityPolicy(content.policy))
  reply.header('x-frame-options', 'DENY')
  return reply.send(Buffer.isBuffer(content.html) ? content.html : content.html.toString())
}
