/**
 * The errors that this library throws: one class for each way in which a program can react. Messages are our own
 * sentences; server input appears in them only as a code of known form, so that no secret can be printed.
 */
import type { AuthQuery } from '../protocol/auth-query.ts'
import type { ReceivedChallenge } from '../protocol/challenge.ts'

export class ClientError extends Error {
  /** The server's code, docs/errors.md or RFC 6749 §5.2; one of ours if the server sent none. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.name = new.target.name
  }
}

/** No response, or a response that says to try again later. */
export class ServerUnavailable extends ClientError {
  readonly retryAfterSeconds: number | undefined
  /** The request may have reached the server, and the response was lost. */
  readonly mayHaveHappened: boolean

  constructor(
    code: string,
    message: string,
    about: {
      readonly mayHaveHappened: boolean
      readonly retryAfterSeconds?: number | undefined
      readonly cause?: unknown
    },
  ) {
    super(code, message, about.cause === undefined ? {} : { cause: about.cause })
    this.mayHaveHappened = about.mayHaveHappened
    this.retryAfterSeconds = about.retryAfterSeconds
  }
}

/** The certificate of the server leads to no trusted CA, or is not valid for this name or at this time. */
export class UntrustedServer extends ClientError {}

/** A response that no such server sends, or that does not belong to the request. Nothing in it was used. */
export class UnexpectedAnswer extends ClientError {
  constructor(message: string, options?: ErrorOptions) {
    super('UNEXPECTED_ANSWER', message, options)
  }
}

export interface Refusal {
  readonly status: number
  /** For the operator: the log has the same id. */
  readonly requestId?: string | undefined
  /** SPEC 401 challenges: what was missing, and whose. */
  readonly challenges?: readonly ReceivedChallenge[] | undefined
  readonly retryAfterSeconds?: number | undefined
  /** What the server says to do next, docs/errors.md. */
  readonly next?: string | undefined
}

/** The server refused. */
export class Refused extends ClientError {
  readonly status: number
  readonly requestId: string | undefined
  readonly challenges: readonly ReceivedChallenge[]
  /** What the server says to do next, docs/errors.md: `refresh`, `sign-in`, `wait` …; undefined if it said nothing. */
  readonly next: string | undefined

  constructor(code: string, message: string, refusal: Refusal) {
    super(code, message)
    const { status, requestId, challenges = [], next } = refusal
    this.next = next
    this.status = status
    this.requestId = requestId
    this.challenges = challenges
  }
}

/** The credentials are not accepted, whatever the reason. */
export class LoginRefused extends Refused {}

/** A code was wrong, the maximum number of times. */
export class CodeRefused extends Refused {}

/** The server asks for another factor, and the program has provided no way to get it. */
export class FactorRequired extends Refused {
  readonly queries: readonly AuthQuery[]

  constructor(message: string, refusal: Refusal & { readonly queries: readonly AuthQuery[] }) {
    super('FACTOR_REQUIRED', message, refusal)
    this.queries = refusal.queries
  }
}

/** Too many failures. */
export class RateLimited extends Refused {
  readonly retryAfterSeconds: number | undefined

  constructor(code: string, message: string, refusal: Refusal) {
    super(code, message, refusal)
    this.retryAfterSeconds = refusal.retryAfterSeconds
  }
}

/** The session has ended, here or on the server. A new login is needed. */
export class SessionEnded extends Refused {}

/** The program or the user canceled the login, or the user did not return in time. */
export class LoginCancelled extends ClientError {}
