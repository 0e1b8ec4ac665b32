/**
 * The sockets of one web listener: one per interface, all served by one HTTPS server. Bytes that are not a valid
 * request get the API's error response. Client certificates are checked later, by our own code.
 */
import type { RequestListener } from 'node:http'
import type { HostPort } from '../base/host-port.ts'
import { newId, type RequestId } from '../base/ids.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Duration } from '../base/time/duration.ts'
import { CATALOGUE, Failure } from '../errors/catalogue.ts'
import { UNREADABLE_CODES, type Unreadable } from '../https-server/connection.ts'
import {
  createHttpsServer,
  type HttpsServer,
  type HttpsServerOptions,
  type RawAnswer,
} from '../https-server/https-server.ts'
import { listenOnEach } from '../https-server/listen-on-each.ts'
import { REQUEST_ID_HEADER } from '../protocol/headers.ts'
import { apiErrorBody } from './faces/error-bodies.ts'

export interface TlsListenerOptions
  extends Pick<
    HttpsServerOptions,
    'tls' | 'timeouts' | 'material' | 'limit' | 'proxyProtocol' | 'log' | 'onPlainHttp'
  > {
  readonly name: string
  /** One socket each. With port 0, all of them use the same free port. */
  readonly interfaces: readonly HostPort[]
  /** The port that another process listens at for this one; the connections come to `accept`. */
  readonly openPort?: number
  readonly handler: RequestListener
  readonly random: Random
}

export interface TlsListener extends Omit<HttpsServer, 'listen'> {
  /** The port in use: the configured one, or the free port that was chosen. */
  readonly port: number
}

export async function openTlsListener(options: TlsListenerOptions): Promise<TlsListener> {
  const { interfaces, openPort } = options
  const { listen, ...server } = createHttpsServer({
    ...options,
    onUnreadable: (why) => answerUnreadable(why, options),
  })
  try {
    return { ...server, port: openPort ?? (await listenOnEach(interfaces, listen, options)) }
  } catch (error) {
    await server.close(0 as Duration)
    throw error
  }
}

/** D-39, D-45. */
function answerUnreadable(
  why: Unreadable,
  { log, random }: Pick<TlsListenerOptions, 'log' | 'random'>,
): RawAnswer {
  const failure = new Failure(UNREADABLE_CODES[why])
  const requestId = newId<RequestId>(random)
  const { status } = CATALOGUE[failure.code]
  const body = JSON.stringify(apiErrorBody(failure, requestId))
  log.info({ requestId, status, code: failure.code }, 'request')
  return {
    status,
    reason: failure.code,
    body,
    headers: {
      [REQUEST_ID_HEADER]: requestId,
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(body)),
      ...(why === 'method-not-allowed' ? { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' } : {}),
    },
  }
}
