/**
 * Every failure we answer with, on each surface that can show it: code and status for the APIs and login
 * endpoints (API 1, D-45), the OAuth name for the OAuth endpoints (D-28), one public sentence for both.
 * docs/errors.md is checked against this table. Codes are published and never reused.
 */
import type { Challenge } from '../protocol/challenge.ts'
import type { TokenError } from '../protocol/oauth.ts'

interface Entry {
  readonly status: 400 | 401 | 404 | 405 | 406 | 408 | 413 | 415 | 421 | 431 | 500 | 503
  /** `error` member of an OAuth answer, RFC 6749 §5.2. */
  readonly oauth: TokenError
  /** One sentence for the caller: what is wrong and, where they can act, what to do. No secrets. */
  readonly message: string
}

export const CATALOGUE = {
  BAD_REQUEST: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the request is not well-formed HTTP',
  },
  COULD_NOT_PARSE_BODY: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the body could not be parsed',
  },
  COULD_NOT_VALIDATE: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the request is not valid',
  },
  // D-12: one wording for every reason; the audit event has the exact one.
  INVALID_AUTH: {
    status: 401,
    oauth: 'invalid_grant',
    message: 'the credentials are not valid',
  },
  INVALID_AUTH_REQUEST: {
    status: 400,
    oauth: 'invalid_request',
    message: 'this login has ended or never began here; start again at /oidc/authorization',
  },
  INVALID_CLIENT: {
    status: 400,
    oauth: 'invalid_client',
    message: 'the client_id is missing or unknown',
  },
  // RFC 6749 §5.2: the only token error with 401. Our client is public and has no secret (SPEC OIDC client).
  CLIENT_HAS_NO_SECRET: {
    status: 401,
    oauth: 'invalid_client',
    message: 'this client is public: send its client_id and no secret',
  },
  INVALID_REDIRECT_URI: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the redirect_uri is missing or not one of the allowed ones',
  },
  // D-28: one answer for unknown, spent and expired; the difference would help only a thief.
  INVALID_GRANT: {
    status: 400,
    oauth: 'invalid_grant',
    message: 'the code is unknown, spent, expired, or not accompanied by what it was issued for',
  },
  UNSUPPORTED_GRANT_TYPE: {
    status: 400,
    oauth: 'unsupported_grant_type',
    message: 'the grant_type is not one of those in the discovery document',
  },
  UNAUTHORIZED: {
    status: 401,
    oauth: 'invalid_request',
    message: 'the request needs a valid token; the WWW-Authenticate header says what is missing',
  },
  NOT_FOUND: {
    status: 404,
    oauth: 'invalid_request',
    message: 'there is nothing at this address',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    oauth: 'invalid_request',
    message: 'this address does not know that method; the Allow header lists those it knows',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    oauth: 'invalid_request',
    message: 'the answer is text/html or application/json, and the Accept header takes neither',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    oauth: 'invalid_request',
    message: 'the request took too long to arrive',
  },
  REQUEST_ENTITY_TOO_LARGE: {
    status: 413,
    oauth: 'invalid_request',
    message: 'the body is larger than this address takes',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    oauth: 'invalid_request',
    message: 'the content type is not one that this address takes',
  },
  MISDIRECTED_REQUEST: {
    status: 421,
    oauth: 'invalid_request',
    message: 'the Host is not one of the addresses of this listener',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    oauth: 'invalid_request',
    message: 'the header fields are too large',
  },
  UNHANDLED: {
    status: 500,
    oauth: 'server_error',
    message: 'something went wrong on our side; the request id finds it in the log',
  },
  SERVER_TOO_BUSY: {
    status: 503,
    oauth: 'temporarily_unavailable',
    message: 'the service is busy; try again after the time in Retry-After',
  },
  // D-34: an instance that may not know of an ended session refuses rather than guesses.
  NOT_READY: {
    status: 503,
    oauth: 'temporarily_unavailable',
    message: 'this instance has lost touch with its database; try again or use another one',
  },
} as const satisfies Record<string, Entry>

export type FailureCode = keyof typeof CATALOGUE

/** Which field was wrong and why; never its value (D-45). */
export interface FieldFault {
  readonly field: string
  readonly reason: string
}

interface FailureOptions {
  /** For the operator's log. Never sent. */
  readonly detail?: string
  readonly field?: FieldFault
  /** What a 401 says is missing. Without one it says the pair for "no supported token" (D-37). */
  readonly challenges?: readonly Challenge[]
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

/** Thrown anywhere, turned into an answer only in http/error-replies.ts. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly detail: string | undefined
  readonly field: FieldFault | undefined
  readonly challenges: readonly Challenge[] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: FailureCode, options: FailureOptions = {}) {
    super(CATALOGUE[code].message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.detail = options.detail
    this.field = options.field
    this.challenges = options.challenges
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
