/**
 * One call to the client or management API, with any credential: only to the address of the API. Returns a `Response`
 * whose body is already read.
 */
import { UnexpectedAnswer } from './errors.ts'
import type { Wire, WireAnswer } from './wire/https-wire.ts'

export interface CallOptions {
  /** Default: GET, or POST with a body. */
  readonly method?: string
  /** Except `authorization`, `dpop` and `zt-session`, which the session sets. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Instead of `body`: this value as JSON. */
  readonly json?: unknown
  readonly signal?: AbortSignal | undefined
  /** A larger response is an error. Default: 16 MiB. */
  readonly mostBytes?: number
}

/** A path of the API, such as `/edge/client/v1/current-identity`. */
export type Call = (path: string, options?: CallOptions) => Promise<Response>

const MOST_BYTES = 16 * 1024 * 1024
const OURS = ['authorization', 'dpop', 'zt-session']

export function sendCall(
  wire: Pick<Wire, 'send'>,
  api: URL,
  path: string,
  options: CallOptions,
  credential: Readonly<Record<string, string | readonly string[]>>,
): Promise<WireAnswer> {
  const url = URL.parse(path, api)
  // `//elsewhere` and `https://elsewhere` are valid URLs too: the token must not be sent there.
  if (!path.startsWith('/') || url?.origin !== api.origin) {
    throw new TypeError('the path does not begin with one slash')
  }
  const { json, headers = {}, signal, mostBytes = MOST_BYTES } = options
  const given = Object.keys(headers).map((name) => name.toLowerCase())
  if (given.some((name) => OURS.includes(name))) {
    throw new TypeError('the credential of a call is that of its session')
  }
  const body = json === undefined ? options.body : JSON.stringify(json)
  return wire.send({
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    url,
    headers: {
      ...(given.includes('accept') ? {} : { accept: 'application/json' }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
      ...credential,
    },
    body,
    signal,
    mostBytes,
  })
}

/** Fetch standard §2.2.3: these have no body. */
const WITHOUT_BODY = [204, 205, 304]

export function responseOf({ status, headers, body }: WireAnswer): Response {
  try {
    return new Response(WITHOUT_BODY.includes(status) ? null : Buffer.from(body), {
      status,
      headers,
    })
  } catch {
    throw new UnexpectedAnswer(`the status ${status} is not valid`)
  }
}
