/**
 * A request of HTTP/2 as one of HTTP/1.1: RFC 9113 §8.3.1. nghttp2 has refused what is malformed; this refuses what two
 * servers could understand differently. D-405.
 */
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { http } from '../../base/node/http.ts'
import { type Field, fieldsOf, valuesOf } from './fields.ts'

export interface Http2Head {
  readonly fields: readonly Field[]
  /** Whether the request ends with its header. */
  readonly isWithoutBody: boolean
}

/** Returns the fields that a client of HTTP/1.1 would have sent, or what is wrong. */
export function readHttp2Head(message: IncomingMessage): Http2Head | { readonly fault: string } {
  const { stream, method } = message as unknown as Http2ServerRequest
  const all = fieldsOf(message.rawHeaders)
  // What Node sends on must be a method of HTTP/1.1.
  if (!http.METHODS.includes(method)) return { fault: 'its method is not known' }
  if (valuesOf(all, ':scheme').some((scheme) => scheme !== 'https'))
    return { fault: 'its scheme is not https' }
  const authorities = valuesOf(all, ':authority')
  const hosts = valuesOf(all, 'host')
  const [named] = authorities
  if (named !== undefined && hosts.length > 0 && (hosts.length > 1 || hosts[0] !== named)) {
    return { fault: 'its authority and its Host differ' }
  }
  const authority = authorities.map((value): Field => ['host', value])
  const isOfHead = (name: string) =>
    name.startsWith(':') || name === 'cookie' || (name === 'host' && authorities.length > 0)
  // §8.2.3: a client may divide cookies, and they are one field in HTTP/1.1.
  const cookies = valuesOf(all, 'cookie')
  const cookie: readonly Field[] = cookies.length === 0 ? [] : [['cookie', cookies.join('; ')]]
  const others = all.filter(([name]) => !isOfHead(name.toLowerCase()))
  const { endAfterHeaders } = stream as unknown as { readonly endAfterHeaders: boolean }
  return { fields: [...authority, ...others, ...cookie], isWithoutBody: endAfterHeaders }
}
