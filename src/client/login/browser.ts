/**
 * Login in a browser, for programs on the same machine: RFC 8252 §7.3. A listener on 127.0.0.1 with a free port waits
 * for one response, the one with the right state, and closes. It refuses all other requests: any page in the browser
 * can reach a port of this machine.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { http } from '../../base/node/http.ts'
import type { Random } from '../../base/secrets/random.ts'
import { deferred } from '../../base/time/deferred.ts'
import { ClientError, LoginCancelled } from '../errors.ts'
import type { ProofKey } from '../proof-key.ts'
import type { Session, SessionOptions } from '../session.ts'
import type { Provider } from '../wire/provider.ts'
import {
  authorizationUrl,
  type Method,
  newProof,
  readClientAnswer,
  type Wishes,
} from './authorization.ts'
import type { Code } from './log-in.ts'

export interface BrowserLoginOptions extends Wishes, SessionOptions {
  /** Which login page comes first. Default: the server decides. */
  readonly method?: Method
  /** The path of the redirect URI, which is `http://127.0.0.1:<port><path>`. Default: `/callback`. */
  readonly path?: string
  /** If the server allows only one port. Default: a free one. */
  readonly port?: number
  /** How long to wait for the user. Default: 10 minutes, which is how long the server waits (D-7). */
  readonly timeoutMilliseconds?: number
  readonly signal?: AbortSignal
}

export interface BrowserLogin {
  /** Open it in a browser on this machine. */
  readonly url: string
  /** Returns the session, once the user has returned. Throws LoginCancelled, and what `logIn` throws. */
  finish(): Promise<Session>
  /** Closes the listener. */
  cancel(): void
}

const TIMEOUT_MILLISECONDS = 600_000
const HEAD_MILLISECONDS = 10_000

export async function beginBrowserLogin(
  deps: {
    readonly provider: Provider
    readonly clientId: string
    readonly random: Random
    readonly key?: ProofKey | undefined
  },
  options: BrowserLoginOptions,
  begin: (code: Code) => Promise<Session>,
): Promise<BrowserLogin> {
  const { path = '/callback', port = 0, timeoutMilliseconds = TIMEOUT_MILLISECONDS } = options
  if (!/^\/[\w./-]*$/.test(path)) throw new TypeError('path is not valid')
  options.signal?.throwIfAborted()

  const server = http.createServer({
    headersTimeout: HEAD_MILLISECONDS,
    requestTimeout: HEAD_MILLISECONDS,
  })
  // A browser may hold a connection open that it does not use; closing the listener does not end it.
  server.on('connection', (socket) => void socket.unref())
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const code = cause.code ?? 'CANNOT_LISTEN'
    throw new ClientError(code, `cannot listen on 127.0.0.1:${port} (${code})`, { cause })
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const proof = newProof(deps.random, `http://${host}${path}`, deps.key)

  const answer = deferred<string>()
  // It may resolve or be canceled before anything awaits it.
  answer.promise.catch(() => undefined)
  let isAnswered = false

  /** The first outcome counts; the listener closes with it. */
  function settle(settleAnswer: () => void): void {
    if (isAnswered) return
    isAnswered = true
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', abort)
    server.close()
    settleAnswer()
  }
  const giveUp = (error: unknown) => settle(() => answer.reject(error))
  const abort = () => giveUp(options.signal?.reason)
  const timer = setTimeout(
    () => giveUp(new LoginCancelled('TIMED_OUT', 'the login was not finished in time')),
    timeoutMilliseconds,
  )
  options.signal?.addEventListener('abort', abort, { once: true })
  if (options.signal?.aborted) abort()
  server.on('error', giveUp)

  server.on('request', (request, response) => {
    const query = queryOf(request, host, path)
    if (query === undefined || isAnswered) {
      show(response, 404, 'There is nothing here.')
      return
    }
    const read = readClientAnswer(query, proof, deps.provider)
    if (read.outcome === 'not-ours') {
      show(response, 400, 'This is not the answer to a login that was begun here.')
    } else if (read.outcome === 'failed') {
      show(response, 400, 'The login has failed. The program that began it says more.')
      giveUp(read.error)
    } else {
      show(response, 200, 'The login has reached the program. You can close this window.')
      settle(() => answer.resolve(read.code))
    }
  })

  return {
    url: authorizationUrl(deps.provider, deps.clientId, proof, options).href,
    finish: async () => begin({ code: await answer.promise, proof, secondaryJwt: undefined }),
    cancel: () => giveUp(new LoginCancelled('CANCELLED', 'the login was given up')),
  }
}

/** Returns the query of a GET to the redirect URI; undefined for anything else, such as a foreign Host. */
function queryOf(request: IncomingMessage, host: string, path: string): string | undefined {
  const [asked, query = '', ...others] = (request.url ?? '').split('?')
  const isOurs = request.method === 'GET' && request.headers.host === host && asked === path
  return isOurs && others.length === 0 ? query : undefined
}

/** A plain page, without scripts or links, that is not cached: its address contains the code. */
function show(response: ServerResponse, status: number, sentence: string): void {
  const page =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Login</title></head>' +
    `<body><p>${sentence}</p></body></html>`
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(page),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(page)
}
