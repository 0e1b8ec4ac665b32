/**
 * Everything that this library throws of its own: one class for each thing that a program does about it. Messages are
 * our own sentences; what a server sent is in them only as a code of known form, so that nothing secret can be printed.
 */
import type { AuthQuery } from '../protocol/auth-query.ts'
import type { ReceivedChallenge } from '../protocol/challenge.ts'

export class ClientError extends Error {
  /** The server's word for it, docs/errors.md or RFC 6749 §5.2; where no server spoke, one of ours. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.name = new.target.name
  }
}

/** No answer, or the answer that there is none now. To be tried again later. */
export class ServerUnavailable extends ClientError {
  readonly retryAfterSeconds: number | undefined
  /** The request may have reached the server, and the answer was lost. */
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

/** The certificate of the server leads to no CA that is trusted, or is not one for this name or this time. */
export class UntrustedServer extends ClientError {}

/** An answer that no server of this kind gives, or one to a question that was not asked. Nothing in it was believed. */
export class UnexpectedAnswer extends ClientError {
  constructor(message: string, options?: ErrorOptions) {
    super('UNEXPECTED_ANSWER', message, options)
  }
}

export interface Refusal {
  readonly status: number
  /** For the operator: his log has the same id. */
  readonly requestId?: string | undefined
  /** SPEC 401 challenges: what was missing, and of whom. */
  readonly challenges?: readonly ReceivedChallenge[] | undefined
  readonly retryAfterSeconds?: number | undefined
}

/** The server said no. */
export class Refused extends ClientError {
  readonly status: number
  readonly requestId: string | undefined
  readonly challenges: readonly ReceivedChallenge[]

  constructor(code: string, message: string, { status, requestId, challenges = [] }: Refusal) {
    super(code, message)
    this.status = status
    this.requestId = requestId
    this.challenges = challenges
  }
}

/** The credentials are not accepted, whatever the reason. */
export class LoginRefused extends Refused {}

/** A code was wrong, as often as it may be. */
export class CodeRefused extends Refused {}

/** Something is asked for besides, and the program has not said how to get it. */
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

/** The session is over, here or there. A new login is needed. */
export class SessionEnded extends Refused {}

/** The program or the person gave the login up, or nobody came back in time. */
export class LoginCancelled extends ClientError {}
