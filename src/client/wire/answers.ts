/**
 * Parses responses: untrusted JSON, and the two forms of error that such a server sends (D-28, D-45). They become our
 * own errors; the server's sentences are not repeated.
 */
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import { parseChallenges, type ReceivedChallenge } from '../../protocol/challenge.ts'
import { REQUEST_ID_HEADER } from '../../protocol/headers.ts'
import {
  type ClientError,
  LoginRefused,
  RateLimited,
  type Refusal,
  Refused,
  ServerUnavailable,
  UnexpectedAnswer,
} from '../errors.ts'
import type { WireAnswer } from './https-wire.ts'

const DEEPEST = 16

/** Returns the JSON object of the body; undefined if it is anything else. */
export function jsonOf({ body }: Pick<WireAnswer, 'body'>): JsonObject | undefined {
  return asObject(parseJson(body, DEEPEST)?.value)
}

export function asObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}

export function challengesOf({ headers }: WireAnswer): readonly ReceivedChallenge[] {
  return parseChallenges(headers.get('www-authenticate') ?? '') ?? []
}

/** The form of our codes and ids; anything else is not repeated. */
const CODE = /^[A-Za-z_]{1,64}$/
const REQUEST_ID = /^[\w.:-]{1,128}$/

/** `error.code` of an API (D-45), `error` of an OAuth endpoint (RFC 6749 §5.2). */
export function codeOf(answer: WireAnswer): string | undefined {
  const error = jsonOf(answer)?.['error']
  const code = typeof error === 'string' ? error : asObject(error)?.['code']
  return typeof code === 'string' && CODE.test(code) ? code : undefined
}

/** The response was lost between a proxy and the server (RFC 9110 §15.6.3, §15.6.5): the server may have acted. */
const LOST = [502, 504]

/** Returns the error for a response that is not the expected one. `doing` says what failed. */
export function refusalOf(answer: WireAnswer, doing: string): ClientError {
  const { status } = answer
  const code = codeOf(answer)
  const retryAfterSeconds = retryAfterOf(answer)
  if (status >= 500) {
    const mayHaveHappened = status !== 503
    // The message of a proxy says nothing about the server.
    const name = LOST.includes(status) ? 'BAD_GATEWAY' : (code ?? 'SERVER_ERROR')
    return new ServerUnavailable(name, `${doing}: the server cannot answer now (${status})`, {
      mayHaveHappened,
      retryAfterSeconds,
    })
  }
  if (code === undefined || status < 400) {
    return new UnexpectedAnswer(`${doing}: the answer cannot be read (${status})`)
  }
  const refusal = refusalIn(answer)
  if (status === 429) {
    return new RateLimited(code, `${doing}: too many failures, wait (${code})`, refusal)
  }
  const Kind = status === 401 ? LoginRefused : Refused
  return new Kind(code, `${doing} was refused (${code})`, refusal)
}

export const isLost = (error: unknown): boolean =>
  error instanceof ServerUnavailable &&
  error.mayHaveHappened &&
  ['NO_ANSWER', 'TIMED_OUT', 'BAD_GATEWAY'].includes(error.code)

export function refusalIn(answer: WireAnswer): Refusal {
  const requestId = answer.headers.get(REQUEST_ID_HEADER) ?? ''
  return {
    status: answer.status,
    requestId: REQUEST_ID.test(requestId) ? requestId : undefined,
    challenges: challengesOf(answer),
    retryAfterSeconds: retryAfterOf(answer),
    next: nextOf(answer),
  }
}

/** `error.next` of an API, `next` of an OAuth endpoint (D-323). Text of another form is not repeated. */
function nextOf(answer: WireAnswer): string | undefined {
  const body = jsonOf(answer)
  const next = asObject(body?.['error'])?.['next'] ?? body?.['next']
  return typeof next === 'string' && /^[a-z-]{1,32}$/.test(next) ? next : undefined
}

/** RFC 9110 §10.2.3, only as a number of seconds: a date would depend on the server's clock. */
function retryAfterOf({ headers }: WireAnswer): number | undefined {
  const text = headers.get('retry-after') ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined
}
