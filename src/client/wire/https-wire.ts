/**
 * HTTPS for this library: always verifies the server, needs TLS 1.2 or newer, limits every response in time and size,
 * reads it completely, and never follows redirects. It does not interpret responses.
 */
import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, type AgentOptions, request } from 'node:https'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { onUpgrade } from '../../base/node/on-upgrade.ts'
import { ServerUnavailable, UnexpectedAnswer, UntrustedServer } from '../errors.ts'

/** The certificate and key that a client presents in the handshake, in PEM. */
export interface ClientCertificate {
  /** The leaf, followed by any intermediates. */
  readonly cert: string
  readonly key: string
}

export interface WireRequest {
  readonly method: string
  readonly url: URL
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  /** Further fields, made anew each time the request is sent. */
  readonly headersOfAttempt?: (() => Readonly<Record<string, string>>) | undefined
  readonly body?: string | Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
  /** Uses a separate connection, so that an error says whether the request can have arrived. */
  readonly isAlone?: boolean
  readonly mostBytes?: number | undefined
}

export interface WireAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

export interface Wire {
  /** Throws ServerUnavailable, UntrustedServer, UnexpectedAnswer; or the reason of the signal. */
  send(request: WireRequest): Promise<WireAnswer>
  /** Closes the connections that are kept open for the next request. */
  close(): void
}

/** A form for an OAuth endpoint (RFC 6749 appendix B), which answers with JSON. */
export function formRequest(url: URL, fields: Readonly<Record<string, string>>): WireRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(fields).toString(),
  }
}

/** A POST of JSON, which is answered with JSON. */
export function jsonRequest(
  url: URL,
  value: object,
  more: WireRequest['headers'] = {},
): WireRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json', ...more },
    body: JSON.stringify(value),
  }
}

/** The default for each request. */
export const TIMEOUT_MILLISECONDS = 30_000

/** Far larger than any response of a login or a token endpoint. */
const MOST_BYTES = 1024 * 1024
const LONGEST_HEAD = 64 * 1024

interface WireOptions {
  /** In PEM; undefined means those that Node trusts. */
  readonly ca: string | undefined
  readonly certificate: ClientCertificate | undefined
  readonly timeoutMilliseconds: number
}

/** Throws a TypeError if an argument cannot be used. */
export function createWire(options: WireOptions): Wire {
  const { timeoutMilliseconds } = options
  const tls: AgentOptions = {
    secureContext: secureContextOf(options),
    rejectUnauthorized: true,
    // A resumed connection could show the certificate of another one (R094).
    maxCachedSessions: 0,
  }
  const kept = new Agent({ ...tls, keepAlive: true })

  async function send(asked: WireRequest): Promise<WireAnswer> {
    try {
      return await attempt(asked)
    } catch (error) {
      // The server closed an idle connection at the moment it was reused; repeating a read does no harm.
      const isStale = error instanceof ServerUnavailable && error.cause instanceof StaleConnection
      if (!isStale || !['GET', 'HEAD'].includes(asked.method)) throw error
      return attempt({ ...asked, isAlone: true })
    }
  }

  async function attempt(asked: WireRequest): Promise<WireAnswer> {
    asked.signal?.throwIfAborted()
    const patience = AbortSignal.timeout(timeoutMilliseconds)
    const signal = asked.signal === undefined ? patience : AbortSignal.any([patience, asked.signal])
    const agent = asked.isAlone === true ? new Agent({ ...tls, keepAlive: false }) : kept
    const progress = { isConnected: false, isReused: false, isUntrusted: false }
    try {
      const response = await begin(asked, agent, signal, progress)
      return await readAnswer(response, asked.mostBytes ?? MOST_BYTES)
    } catch (error) {
      asked.signal?.throwIfAborted()
      throw explain(error, new URL(asked.url).host, progress, patience.aborted)
    }
  }

  return { send, close: () => kept.destroy() }
}

/** Throws a TypeError for text that is not PEM, and for a key that does not match its certificate. */
function secureContextOf({ ca, certificate }: WireOptions): SecureContext {
  try {
    // Node skips a CA that it cannot parse.
    if (ca !== undefined) new X509Certificate(ca)
    return createSecureContext({
      // The given certificate is trusted, whether it is a root, an intermediate or the server's own.
      ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
      ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key }),
      minVersion: 'TLSv1.2',
    })
  } catch (cause) {
    const what = certificate === undefined ? 'the CA' : 'the CA, the certificate or its key'
    throw new TypeError(`${what} cannot be used`, { cause })
  }
}

interface Progress {
  isConnected: boolean
  isReused: boolean
  isUntrusted: boolean
}

function begin(
  { method, url, headers = {}, headersOfAttempt, body }: WireRequest,
  agent: Agent,
  signal: AbortSignal,
  progress: Progress,
): Promise<IncomingMessage> {
  const bytes = body === undefined ? undefined : Buffer.from(body)
  return new Promise((resolve, reject) => {
    const call = request(url, {
      method,
      agent,
      signal,
      maxHeaderSize: LONGEST_HEAD,
      headers: {
        'user-agent': 'latchkey-client',
        'accept-encoding': 'identity',
        ...(headers as Record<string, string | string[]>),
        ...headersOfAttempt?.(),
        ...(bytes === undefined ? {} : { 'content-length': bytes.length }),
      },
    })
    call.on('response', resolve)
    call.on('error', (error) => {
      const { socket } = call
      // Node types it as an Error; it is the code of one, or null.
      progress.isUntrusted = socket instanceof TLSSocket && Boolean(socket.authorizationError)
      progress.isReused = call.reusedSocket
      reject(error)
    })
    onUpgrade(call, () =>
      reject(new UnexpectedAnswer('the server switched protocols without a request')),
    )
    call.on('socket', (socket) => {
      if (socket instanceof TLSSocket && socket.authorized) progress.isConnected = true
      else socket.once('secureConnect', () => (progress.isConnected = true))
    })
    call.end(bytes)
  })
}

/** Throws UnexpectedAnswer if the body is larger, and what the stream throws. */
export async function readBody(
  response: IncomingMessage,
  mostBytes: number,
  tooLarge = `the answer is larger than ${mostBytes} bytes`,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop destroys the response.
  for await (const chunk of response) {
    length += chunk.length
    if (length > mostBytes) throw new UnexpectedAnswer(tooLarge)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function readAnswer(response: IncomingMessage, mostBytes: number): Promise<WireAnswer> {
  const body = await readBody(response, mostBytes)
  // A response without a stated length that is cut ends without an error.
  if (!response.complete) throw new Error('the answer was cut')
  const headers = new Headers()
  const { rawHeaders } = response
  for (let i = 0; i < rawHeaders.length; i += 2) {
    headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
  }
  return { status: response.statusCode ?? 0, headers, body }
}

/** An error on a reused connection; its cause is the error itself. */
class StaleConnection extends Error {}

/** Explains the error codes of the system to the user who gave the address. */
const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; is the service running?',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'its name cannot be looked up now',
  EHOSTUNREACH: 'the network has no route to it',
  ENETUNREACH: 'the network has no route to it',
  ETIMEDOUT: 'it does not answer',
  ECONNRESET: 'it closed the connection',
  EPROTO: 'it does not speak HTTPS',
}

/** Returns why no connection came about, for the end of a sentence. */
export function connectionProblem(code: unknown): string {
  const { [String(code)]: known } = CAUSES
  return known === undefined ? String(code ?? 'lost') : `${known} (${String(code)})`
}

function explain(error: unknown, host: string, progress: Progress, isTooLate: boolean): unknown {
  if (error instanceof UnexpectedAnswer) return error
  const { code } = error as { readonly code?: unknown }
  if (progress.isUntrusted) {
    return new UntrustedServer(String(code), `${host} is not trusted (${code})`, {
      cause: error,
    })
  }
  // Caused by our own arguments: a header with a line break, a key that does not match its certificate.
  if (error instanceof TypeError) return error
  const mayHaveHappened = progress.isConnected
  if (isTooLate) {
    const message = `${host} did not answer in time`
    return new ServerUnavailable('TIMED_OUT', message, { mayHaveHappened, cause: error })
  }
  // llhttp's own codes: the response is not HTTP.
  if (typeof code === 'string' && code.startsWith('HPE_')) {
    return new UnexpectedAnswer('the answer is not HTTP', { cause: error })
  }
  const isStale = progress.isReused && code === 'ECONNRESET'
  const message = mayHaveHappened
    ? `the answer of ${host} was lost (${code ?? 'cut'})`
    : `no connection to ${host}: ${connectionProblem(code)}`
  return new ServerUnavailable('NO_ANSWER', message, {
    mayHaveHappened,
    cause: isStale ? new StaleConnection('', { cause: error }) : error,
  })
}
