/**
 * What a route declares: its address, who may call it, the body it accepts, how it reports failures, which other
 * origins may read it, and which statuses it returns. An API route also declares its operation (edge-api/api.ts). The
 * OpenAPI documents, 405s, preflights and the tests use this declaration.
 */
import type { z } from 'zod'
import type { ListFields } from '../domain/lists/list-query.ts'
import type { FailureCode } from '../errors/catalogue.ts'
import type { Cors } from './cors.ts'
import type { Face } from './error-replies.ts'
import type { Reads } from './reading/body.ts'
import type { DeclaredBody } from './reading/declared-body.ts'

/**
 * Who may call. `public`: anyone, and no response ever carries a challenge (D-37, R071). `login`: anyone; the caller
 * authenticates with the credentials in the request. `session`: the holder of a valid credential. `partial`: also of a
 * legacy session whose TOTP code is outstanding (D-51). `logout`: also without any second factor (D-52). `admin`: an
 * administrator (D-38). `router`: an identity of type Router, by the certificate of the connection (D-42).
 */
export type Access = 'public' | 'login' | 'session' | 'partial' | 'logout' | 'admin' | 'router'
export type AuthenticatedAccess = Exclude<Access, 'public' | 'login' | 'router'>

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Route {
  readonly method: Method
  readonly url: string
  readonly access: Access
  readonly face: Face
  readonly cors: Cors
  /** The content types that the route accepts, D-11. If empty, the body is ignored. */
  readonly reads: readonly Reads[]
  /** Machines poll this route: successful responses are logged only at debug level. */
  readonly isProbe?: true
  /** Every status it may return, besides those that any address may return (`ALWAYS`). */
  readonly replies: readonly number[]
  /** For an API route: what the OpenAPI document says about it. */
  readonly operation?: Operation
}

/** A route as it is declared: by default it ignores the body, and scripts of other origins may not read the response. */
export type DeclaredRoute = Omit<Route, 'cors' | 'reads'> & Partial<Pick<Route, 'cors' | 'reads'>>

/** One API call. It types the handler and appears in the OpenAPI document (D-264). */
export interface Operation {
  /** One sentence in the imperative, without a full stop. */
  readonly summary: string
  readonly description?: string
  /** The tag of the call in the document; by default the first part of its path. */
  readonly tag?: string
  /** Makes it a list: the fields that `filter` and `sort` may name (API 2). */
  readonly list?: ListFields
  /** Query parameters beyond those of a list; all are optional. */
  readonly query?: Parameters
  /** Additional header fields that it reads; all are optional. */
  readonly headers?: Parameters
  readonly body?: DeclaredBody
  /** Success responses by status. */
  readonly answers: Readonly<Record<number, AnsweredContent>>
  /** Header fields of a success, besides those of every response. */
  readonly answerHeaders?: readonly string[]
  /** Additional errors, besides those that follow from who may call it and which body it accepts. */
  readonly codes?: readonly FailureCode[]
}

/** Name → description. */
type Parameters = Readonly<Record<string, string>>

/** A shape of the contract, or content of other types. */
export type AnsweredContent = z.ZodType | OtherContent

export interface OtherContent {
  /** If empty, the response has no content. */
  readonly types: readonly string[]
  readonly about: string
}

export function isShape(content: AnsweredContent): content is z.ZodType {
  return !('about' in content)
}

/** Malformed, too slow, too large, at the wrong address, an internal error: no route needs to declare these. */
export const ALWAYS: readonly number[] = [400, 404, 405, 408, 413, 415, 421, 431, 500, 503]

/** Whether the route accepts a caller without credentials. */
export function isAnonymous({ access }: Pick<Route, 'access'>): boolean {
  return access === 'public' || access === 'login'
}
