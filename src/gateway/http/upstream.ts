/**
 * Calls the service behind the gateway. Each call has its own connection, so that no left-over bytes can be mixed up
 * with another response. Only the given fields are sent. D-42.
 */
import type { ClientRequest } from 'node:http'
import type { HostPort } from '../../base/host-port.ts'
import { http } from '../../base/node/http.ts'
import type { Duration } from '../../base/time/duration.ts'
import { LARGEST_HEADERS } from '../../https-server/http2.ts'
import type { Field } from './fields.ts'
import type { Body, InboundRequest } from './read-request.ts'

/** How long the upstream and the clients may be inactive. */
export interface GatewayTimes {
  /** Limit for the handshake, and for the header of a request. */
  readonly header: Duration
  /** D-44: how long a body may make no progress. */
  readonly upload: Duration
  /** Limit until the upstream responds. */
  readonly answer: Duration
  /** How long a client may accept none of the bytes that are sent to it (D-196). */
  readonly write: Duration
}

/** The header is sent with the first byte of the body or with its end. */
export function callUpstream(
  { host, port }: HostPort,
  { method, target, fields }: Pick<InboundRequest, 'method' | 'target' | 'fields'>,
): ClientRequest {
  const call = http.request({
    host,
    port,
    method,
    path: target,
    // A list is sent unchanged; Node adds only `Connection: close`.
    headers: fields.flat(),
    agent: false,
    // As large as those that we accept (D-44).
    maxHeaderSize: LARGEST_HEADERS,
  })
  // Node would silently drop fields beyond two thousand.
  call.maxHeadersCount = 0
  return call
}

/** Methods for which Node assumes no body, and so sends no length. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/** The framing of this hop: the same length, or new chunks. */
export function framing(body: Body, method: string): readonly Field[] {
  switch (body.kind) {
    case 'length':
      return [['content-length', body.length]]
    case 'chunked':
      return [['transfer-encoding', 'chunked']]
    case 'none':
      return BODILESS.has(method) ? [] : [['content-length', '0']]
  }
}
