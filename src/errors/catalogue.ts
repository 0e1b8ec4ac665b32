/**
 * Every failure we answer with, on each surface that can show it: code and status for the APIs and login
 * endpoints (API 1, D-45), the OAuth name for the OAuth endpoints (D-28), one public sentence for both.
 * docs/errors.md is checked against this table. Codes are published and never reused.
 */
import type { AuthQuery } from '../protocol/auth-query.ts'
import type { Challenge } from '../protocol/challenge.ts'
import type { TokenError } from '../protocol/oauth.ts'

interface Entry {
  readonly status:
    | 400
    | 401
    | 403
    | 404
    | 405
    | 406
    | 408
    | 409
    | 413
    | 415
    | 421
    | 429
    | 431
    | 500
    | 503
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
  INVALID_REFRESH_TOKEN: {
    status: 400,
    oauth: 'invalid_grant',
    message: 'the refresh token is unknown, spent or expired, or its identity may no longer log in',
  },
  INVALID_SCOPE: {
    status: 400,
    oauth: 'invalid_scope',
    message: 'the scope is more than was granted at the authorization',
  },
  INVALID_POST_LOGOUT_URI: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the post_logout_redirect_uri is not one of the allowed ones',
  },
  INVALID_ID_TOKEN_HINT: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the id_token_hint is not an ID token of this service',
  },
  UNSUPPORTED_GRANT_TYPE: {
    status: 400,
    oauth: 'unsupported_grant_type',
    message: 'the grant_type is not one of those in the discovery document',
  },
  UNAUTHORIZED: {
    status: 401,
    oauth: 'invalid_token', // RFC 6750 §3.1
    message: 'the request needs a valid token; the WWW-Authenticate header says what is missing',
  },
  // D-38: known, but not allowed. Never 401 for that.
  FORBIDDEN: {
    status: 403,
    oauth: 'insufficient_scope', // RFC 6750 §3.1
    message: 'the caller is known, but may not do this',
  },
  // SPEC Other errors: a wrong code is a 400 and the request stays partially authenticated.
  MFA_INVALID_TOKEN: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the code is invalid',
  },
  MFA_EXISTS: {
    status: 409,
    oauth: 'invalid_request',
    message: 'a verified TOTP enrollment exists; remove it from a full session first',
  },
  MFA_NOT_ENROLLED: {
    status: 409,
    oauth: 'invalid_request',
    message: 'there is no verified TOTP enrollment',
  },
  MFA_ENROLLMENT_NOT_STARTED: {
    status: 404,
    oauth: 'invalid_request',
    message: 'there is no pending TOTP enrollment; start one first',
  },
  ENTITY_NAME_IN_USE: {
    status: 409,
    oauth: 'invalid_request',
    message: 'another entity has this already; it must be unique',
  },
  ENTITY_CAN_NOT_BE_DELETED: {
    status: 409,
    oauth: 'invalid_request',
    message: 'this is built in and stays',
  },
  CAN_NOT_DELETE_REFERENCED_ENTITY: {
    status: 409,
    oauth: 'invalid_request',
    message: 'other entities refer to this one; change or delete those first',
  },
  LAST_ADMINISTRATOR: {
    status: 409,
    oauth: 'invalid_request',
    message: 'this is the last administrator who can log in',
  },
  MAX_AUTHENTICATOR_METHODS_REACHED: {
    status: 409,
    oauth: 'invalid_request',
    message: 'the identity has an authenticator of this method; delete it first',
  },
  CERT_IN_USE: {
    status: 409,
    oauth: 'invalid_request',
    message: 'the certificate is in use already',
  },
  INVALID_CERT_PEM: {
    status: 400,
    oauth: 'invalid_request',
    message: 'this is not one certificate in PEM',
  },
  CERTIFICATE_IS_NOT_CA: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the certificate is not that of a CA',
  },
  CA_ALREADY_VERIFIED: {
    status: 409,
    oauth: 'invalid_request',
    message: 'the CA is verified already',
  },
  INVALID_COMMON_NAME: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the common name of the certificate is not the verification token of the CA',
  },
  CERT_FAILED_VALIDATION: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the certificate is not valid under this CA',
  },
  CAN_NOT_RENEW_CERTIFICATE: {
    status: 409,
    oauth: 'invalid_request',
    message: 'only a certificate that this service has issued, and that is in date, can be renewed',
  },
  RENEWAL_NOT_PENDING: {
    status: 400,
    oauth: 'invalid_request',
    message: 'this is not the certificate that waits to be confirmed; ask for a renewal again',
  },
  INVALID_ENROLLMENT_TOKEN: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the enrollment token is not one of this service, or not for this way of enrolling',
  },
  ENROLLMENT_EXPIRED: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the enrollment token has expired; ask an administrator for a new one',
  },
  ENROLLMENT_USED: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the enrollment token has been used; each works once',
  },
  ENROLLMENT_EXISTS: {
    status: 409,
    oauth: 'invalid_request',
    message: 'the identity has an open enrollment of this method; delete or refresh that one',
  },
  COULD_NOT_PROCESS_CSR: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the certificate request cannot be used',
  },
  TOO_MANY_CERTIFICATES: {
    status: 409,
    oauth: 'invalid_request',
    message: 'the session has as many certificates as it may; delete one first',
  },
  INVALID_PAGINATION: {
    status: 400,
    oauth: 'invalid_request',
    message: 'limit must be a number from 1 and offset one from 0',
  },
  INVALID_SORT_IDENTIFIER: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the sort is not understood',
  },
  INVALID_FILTER: {
    status: 400,
    oauth: 'invalid_request',
    message: 'the filter is not understood',
  },
  RATE_LIMITED: {
    status: 429,
    oauth: 'temporarily_unavailable',
    message: 'too many failures; try again after the time in Retry-After',
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
  IDP_UNAVAILABLE: {
    status: 503,
    oauth: 'temporarily_unavailable',
    message: 'the identity provider does not answer as it should; try again later',
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
  /** What is still to be proven, for the body of a 401 (D-14, D-51). */
  readonly authQueries?: readonly AuthQuery[]
  readonly cause?: unknown
}

/** Thrown anywhere, turned into an answer only in http/error-replies.ts. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly detail: string | undefined
  readonly field: FieldFault | undefined
  readonly challenges: readonly Challenge[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly authQueries: readonly AuthQuery[] | undefined

  constructor(code: FailureCode, options: FailureOptions = {}) {
    super(CATALOGUE[code].message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.detail = options.detail
    this.field = options.field
    this.challenges = options.challenges
    this.retryAfterSeconds = options.retryAfterSeconds
    this.authQueries = options.authQueries
  }
}
