/**
 * The only place that turns a failure into a response. There are four forms: the API envelope, OAuth JSON, a page for
 * browsers, and the WWW-Authenticate header of every 401. Any error that is not a Failure becomes UNHANDLED.
 */
import type { IncomingMessage } from 'node:http'
import { EndedLogin } from '../domain/login/request/find-request.ts'
import { CATALOGUE, Failure, type FailureCode } from '../errors/catalogue.ts'
import { StoreUnavailable } from '../errors/store-unavailable.ts'
import { errorText } from '../web/login/error-text.ts'
import { loginAddress } from '../web/login/login-address.ts'
import { type ErrorPage, errorPage } from '../web/login/pages/error-page.ts'
import type { Presentation } from '../web/login/presentation.ts'
import { type Answer, json, page } from './answer.ts'
import { failureHeaders } from './faces/challenge-header.ts'
import { apiErrorBody, oauthErrorBody } from './faces/error-bodies.ts'

/** How a route reports failures: which JSON format, and whether browsers get a page. */
export interface Face {
  readonly json: 'api' | 'oauth'
  readonly pages: boolean
}

export function failureAnswer(
  failure: Failure,
  shown: {
    readonly face: Face
    readonly wantsHtml: boolean
    readonly requestId: string
    readonly brand: string
    readonly presentation: Presentation
    /** The start page, for a user who came to an address that is not a page. */
    readonly start?: string | undefined
  },
): Answer {
  const { face, wantsHtml, requestId, brand, presentation, start } = shown
  const { status } = CATALOGUE[failure.code]
  const headers = failureHeaders(failure, brand)
  if (face.pages && wantsHtml) {
    const text = shownFailure(presentation, failure)
    return page(status, errorPage(presentation, { ...text, requestId, start }), {}, headers)
  }
  const body = face.json === 'oauth' ? oauthErrorBody(failure) : apiErrorBody(failure, requestId)
  return json(status, body, headers)
}

/** A page of its own about a failure, such as the form again with what is wrong. `write` gets its status. */
export function refusedPage(
  failure: Failure,
  brand: string,
  write: (status: number) => Answer,
): Answer {
  const answer = write(CATALOGUE[failure.code].status)
  return { ...answer, headers: failureHeaders(failure, brand), failure }
}

/** D-344: a login that was ours can be started again. */
function shownFailure(presentation: Presentation, failure: Failure): Omit<ErrorPage, 'requestId'> {
  const text = errorText(presentation, failure.code)
  if (!(failure instanceof EndedLogin)) return text
  const restart = loginAddress('restart', failure.authRequestId)
  return { ...text, message: presentation.say('ended.message'), restart }
}

/** Maps the errors that Fastify raises before a handler runs to ours. */
const FRAMEWORK_CODES: Readonly<Record<string, FailureCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'REQUEST_ENTITY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'COULD_NOT_PARSE_BODY',
  FST_ERR_BAD_URL: 'BAD_REQUEST',
  // D-206: a path segment that is longer than any id cannot match anything.
  FST_ERR_MAX_PARAM_LENGTH: 'NOT_FOUND',
}

/** D-250: long enough for a database restart. A failover takes longer; the client then tries again. */
const STORE_RETRY_SECONDS = 2

/** `request` shows whether the caller's connection broke: the error code alone could come from any connection. */
export function asFailure(error: unknown, request?: Pick<IncomingMessage, 'errored'>): Failure {
  if (error instanceof Failure) return error
  if (error instanceof StoreUnavailable) {
    const { message: detail } = error
    const retryAfterSeconds = STORE_RETRY_SECONDS
    return new Failure('NOT_READY', { detail, retryAfterSeconds, cause: error })
  }
  if (error instanceof Error && error === request?.errored) {
    return new Failure('BAD_REQUEST', { detail: 'the caller hung up', cause: error })
  }
  const code = (error as { code?: unknown } | undefined)?.code
  const known = typeof code === 'string' ? FRAMEWORK_CODES[code] : undefined
  return new Failure(known ?? 'UNHANDLED', { cause: error })
}
