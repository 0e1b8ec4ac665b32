/**
 * Every failure we answer with, on each surface that can show it: code and status for the APIs and login
 * endpoints (API 1, D-45), the OAuth name for the OAuth endpoints (D-28), one public sentence for both.
 * docs/errors.md is written from this table (D-273). Codes are published and never reused.
 */
import type { AuthQuery } from '../protocol/auth-query.ts'
import type { Challenge } from '../protocol/challenge.ts'
import { ENTITY_ERRORS } from './entity-errors.ts'
import { LOGIN_ERRORS } from './login-errors.ts'
import { actionAbout, type NextAction } from './next-actions.ts'
import { REQUEST_ERRORS } from './request-errors.ts'
import { SERVICE_ERRORS } from './service-errors.ts'

export const CATALOGUE = {
  ...REQUEST_ERRORS,
  ...LOGIN_ERRORS,
  ...ENTITY_ERRORS,
  ...SERVICE_ERRORS,
} as const

/** With the titles that docs/errors.md has for them. */
export const ERROR_GROUPS = {
  Requests: REQUEST_ERRORS,
  'Logins and tokens': LOGIN_ERRORS,
  'Entities, certificates and enrollments': ENTITY_ERRORS,
  'The service': SERVICE_ERRORS,
} as const

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
  /** What a client does next, if it is not what the catalogue or the challenge says (D-323). */
  readonly next?: NextAction
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
  readonly next: NextAction

  constructor(code: FailureCode, options: FailureOptions = {}) {
    super(CATALOGUE[code].message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.detail = options.detail
    this.field = options.field
    this.challenges = options.challenges
    this.retryAfterSeconds = options.retryAfterSeconds
    this.authQueries = options.authQueries
    this.next = options.next ?? actionAbout(options) ?? CATALOGUE[code].next[0]
  }
}
