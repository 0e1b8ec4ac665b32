/**
 * The sockets of one web listener: one per interface, all served by one HTTPS server. Bytes that are not a valid
 * request get the API's error response. Client certificates are checked later, by our own code.
 */
import type { RequestListener } from 'node:http'
import type { HostPort } from '../base/host-port.ts'
import { newId, type RequestId } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Duration } from '../base/time/duration.ts'
import { CATALOGUE, Failure } from '../errors/catalogue.ts'
import { UNREADABLE_CODES, type Unreadable } from '../https-server/connection.ts'
import {
  createHttpsServer,
  type HttpsServer,
  type HttpsServerOptions,
  type RawAnswer,
  type TlsMaterial,
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

export interface TlsListener extends Pick<HttpsServer, 'close' | 'accept'> {
  /** The port in use: the configured one, or the free port that was chosen. */
  readonly port: number
  /** Replaces the certificate, the CA names or both, starting with the next handshake. */
  replaceMaterial(change: Partial<TlsMaterial>): void
}

export async function openTlsListener(options: TlsListenerOptions): Promise<TlsListener> {
  const { interfaces, log, name, random } = options
  const server = createHttpsServer({
    ...options,
    onUnreadable: (why) => answerUnreadable(why, { log, random }),
  })
  const { replaceMaterial, accept, close } = server
  if (options.openPort !== undefined) {
    return { port: options.openPort, replaceMaterial, accept, close }
  }
  try {
    const port = await listenOnEach(interfaces, server.listen, { name, log })
    return { port, replaceMaterial, accept, close }
  } catch (error) {
    await close(0 as Duration)
    throw error
  }
}

/** D-39, D-45. */
function answerUnreadable(
  why: Unreadable,
  { log, random }: { readonly log: Log; readonly random: Random },
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
