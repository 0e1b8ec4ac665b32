/**
 * Requests to hosts that others chose: the only place that opens connections to a URL from user input. API 4.5, R106.
 * The host is resolved once, each of its addresses is checked, and the connection goes only to those addresses, so that
 * a second DNS answer has no effect. Time and size are limited; redirects are not followed.
 */
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { Agent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { isLoopbackHost, withoutBrackets } from '../base/host-port.ts'
import { parseJson } from '../base/json.ts'
import { http } from '../base/node/http.ts'
import { isNonEmpty, type NonEmpty } from '../base/non-empty.ts'
import { type Duration, formatDuration, seconds } from '../base/time/duration.ts'
import { type AddressRules, isLoopback, refusalOf } from './address-rules.ts'
import { Refusal, reasonOf } from './refusal.ts'
import { verifying } from './verifying.ts'

export interface FetchRules extends AddressRules {
  /** Allows plain http to every host; otherwise only to this machine. */
  readonly allowHttp: boolean
}

/** The request. With a form it is a POST. */
export interface Question {
  readonly form?: string
  /** The statuses whose body is read; every other response is refused. */
  readonly statuses: readonly number[]
}

export interface Answer {
  readonly status: number
  /** Of the JSON document in its body. */
  readonly value: unknown
}

/** Rejects with an Error whose message says what went wrong and quotes nothing of the response. */
export type CheckedRequest = (url: string, question: Question) => Promise<Answer>

export interface FetchOptions {
  /** The limit for everything together: resolving, connecting, header and body. API 4.5. */
  readonly timeLimit?: Duration
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>
  /**
   * Authorities that are trusted in addition to those of Node (including NODE_EXTRA_CA_CERTS) and of the system. PEM.
   */
  readonly authorities?: readonly string[]
}

// API 4.5.
const TIME_LIMIT = seconds(5)
const MOST_BYTES = 256 * 1024
/** The same depth as for all other JSON (D-44). */
const DEEPEST = 32

export function createCheckedRequest(
  rules: FetchRules,
  options: FetchOptions = {},
): CheckedRequest {
  const { timeLimit = TIME_LIMIT, resolve = resolveHost, authorities = [] } = options
  let tls: ConnectionOptions | undefined

  return async (text, question) => {
    const url = readUrl(text, rules)
    // A timer, not the clock: it only ends the request.
    const signal = AbortSignal.timeout(timeLimit)
    try {
      const addresses = await checkedAddresses(url, rules, before(signal, resolve))
      if (url.protocol === 'https:') tls ??= verifying(authorities)
      return await ask(url, question, addresses, signal, tls)
    } catch (error) {
      if (signal.aborted) throw new Error(`it took longer than ${formatDuration(timeLimit)}`)
      throw new Error(reasonOf(error))
    }
  }
}

function readUrl(text: string, rules: FetchRules): URL {
  const url = URL.parse(text)
  if (url === null) throw new Error('it is not a URL')
  if (url.username !== '' || url.password !== '') throw new Error('the URL carries credentials')
  if (url.protocol === 'https:') return url
  if (url.protocol !== 'http:') throw new Error('the URL is not https')
  if (!rules.allowHttp && !isLoopbackHost(hostOf(url))) {
    throw new Error('the URL is plain http to another machine')
  }
  return url
}

/** Removes the brackets of IPv6 and the dot of the root, which would be a second name for the same host. */
function hostOf(url: URL): string {
  return withoutBrackets(url.hostname).replace(/\.$/, '')
}

type Resolve = (host: string) => Promise<readonly LookupAddress[]>

async function resolveHost(host: string): Promise<readonly LookupAddress[]> {
  return lookup(host, { all: true })
}

/** A resolver cannot be stopped; what it returns after the time is up is dropped. */
function before(signal: AbortSignal, resolve: Resolve): Resolve {
  return (host) =>
    new Promise((settle, reject) => {
      signal.addEventListener('abort', () => reject(new Refusal('the time is up')), { once: true })
      resolve(host).then(settle, reject)
    })
}

/** One refused address refuses the host, because we do not control which one a connection uses. */
async function checkedAddresses(
  url: URL,
  rules: FetchRules,
  resolve: Resolve,
): Promise<NonEmpty<LookupAddress>> {
  const host = hostOf(url)
  const family = isIP(host)
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }]
  if (!isNonEmpty(addresses)) throw new Refusal('the host has no address')
  for (const { address } of addresses) {
    const refusal = refusalOf(address, host, rules)
    if (refusal !== undefined) throw new Refusal(`the host ${refusal}`)
    if (url.protocol === 'http:' && !rules.allowHttp && !isLoopback(address)) {
      throw new Refusal('the URL is plain http to another machine')
    }
  }
  return addresses
}

async function ask(
  url: URL,
  question: Question,
  addresses: NonEmpty<LookupAddress>,
  signal: AbortSignal,
  tls: ConnectionOptions | undefined,
): Promise<Answer> {
  const pinned: LookupFunction = (_host, { all }, done) => {
    if (all) done(null, [...addresses])
    else done(null, addresses[0].address, addresses[0].family)
  }
  const options = {
    hostname: hostOf(url),
    port: url.port,
    path: `${url.pathname}${url.search}`,
    method: question.form === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      // A small compressed body can expand to a huge one.
      'accept-encoding': 'identity',
      'user-agent': 'latchkey',
      ...(question.form === undefined
        ? {}
        : {
            'content-type': 'application/x-www-form-urlencoded',
            'content-length': Buffer.byteLength(question.form),
          }),
    },
    lookup: pinned,
    signal,
  } as const
  // A separate connection that is not kept, and that bypasses every proxy and pool of the process.
  const request =
    url.protocol === 'http:'
      ? http.request({ ...options, agent: false })
      : requestHttps({ ...options, agent: new Agent(tls) })
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve)
      request.on('error', reject)
      request.on('close', () => reject(new Refusal('the connection ended without an answer')))
      request.end(question.form)
    })
    return await readBody(response, question.statuses)
  } finally {
    request.destroy()
  }
}

async function readBody(response: IncomingMessage, statuses: readonly number[]): Promise<Answer> {
  const { statusCode = 0, headers } = response
  if (statusCode >= 300 && statusCode < 400) {
    throw new Refusal(`the answer is a redirect (${statusCode}); those are not followed`)
  }
  if (!statuses.includes(statusCode)) throw new Refusal(`the answer has the status ${statusCode}`)
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new Refusal('the answer is compressed')
  }
  const tooLarge = new Refusal(`the answer is larger than ${MOST_BYTES / 1024} KiB`)
  if (Number(headers['content-length'] ?? 0) > MOST_BYTES) throw tooLarge
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MOST_BYTES) throw tooLarge
    chunks.push(chunk)
  }
  const document = parseJson(Buffer.concat(chunks), DEEPEST)
  if (document === undefined) throw new Refusal('the answer is not JSON that can be read')
  return { status: statusCode, value: document.value }
}
