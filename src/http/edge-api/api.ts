/**
 * The two APIs, and how a route is added to one: `add` takes the operation and types the handler by it – path
 * parameters, query, body, session and responses. These are derived from the operation, not declared: the accepted
 * content types, the statuses, and the codes that follow from who may call (openapi/codes.ts).
 */
import type { z } from 'zod'
import { DoneReply } from '../../contract/envelope.ts'
import type { ListQuery } from '../../domain/lists/list-query.ts'
import { CATALOGUE } from '../../errors/catalogue.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import type { Cors } from '../cors.ts'
import { codesOf } from '../openapi/codes.ts'
import type { InputOf } from '../reading/declared-body.ts'
import type { Access, Method, Operation, Route } from '../route.ts'
import type { Router } from '../router.ts'
import { done } from './answers.ts'
import { readBody } from './read-body.ts'
import { readList } from './read-list.ts'

/** SPEC Versioning 1; API 3. */
export const APIS = {
  'edge-client': {
    prefix: '/edge/client/v1',
    title: 'Latchkey Edge Client API',
    description: 'What programs and users who log in call.',
  },
  'edge-management': {
    prefix: '/edge/management/v1',
    title: 'Latchkey Edge Management API',
    description: 'What administrators call, and what both APIs have in common.',
  },
} as const

export type ApiBinding = keyof typeof APIS

/** A route as declared in a file of an API. */
export interface ApiRoute extends Operation {
  readonly method: Method
  /** Below the prefix of the API; `:name` stands for a parameter. */
  readonly path: `/${string}`
  readonly access: Access
  /** By default `listed`: scripts of the configured origins may call. */
  readonly cors?: Cors
}

/** A route that answers nothing but that it was done. */
type ApiAction = Omit<ApiRoute, 'answers'>

/** What the handler of a route gets: the call, typed by the declaration. */
export type ApiCall<R extends ApiAction> = Omit<Call<R['access']>, 'path' | 'query'> & {
  readonly path: Readonly<Record<ParametersOf<R['path']>, string>>
  readonly query: ReadonlyMap<keyof R['query'] & string, readonly string[]>
  readonly list: R extends { readonly list: object } ? ListQuery : undefined
  readonly input: InputOf<R['body']>
}

/** What the handler of a route may return: a declared status, with JSON of its shape. Failures are thrown. */
export type ApiAnswer<R extends ApiRoute> = AnswersOf<R['answers']>

type AnswersOf<A> = {
  [S in keyof A & number]: Answer<S, A[S] extends z.ZodType ? z.output<A[S]> : unknown>
}[keyof A & number]

type ParametersOf<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParametersOf<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

/** An API of a listener, or the root, which has some of the same calls. */
export interface Api {
  add<const R extends ApiRoute>(
    route: R,
    handler: (call: ApiCall<R>) => Promise<ApiAnswer<R>> | ApiAnswer<R>,
  ): void
  /** Adds a route whose response has no data: success is all that it says. */
  act<const R extends ApiAction>(route: R, handler: (call: ApiCall<R>) => Promise<void>): void
  /** Every route of the listener. */
  readonly table: readonly Route[]
}

export function apiAt(router: Router, prefix: string): Api {
  const add: Api['add'] = (route, handler) => {
    const known = route.list && (router.listFields?.(route.list) ?? route.list)
    router.add(routeOf(prefix, route), (call) => {
      const list = known && readList(call.query, known)
      const input = inputOf(route, call)
      // Added to the call, not spread with it: spreading would run its getter, which only pages need.
      return handler(Object.assign(call, { list, input }) as never)
    })
  }
  return {
    table: router.table,
    add,
    act(route, handler) {
      add({ ...route, answers: { 200: DoneReply } } as ApiRoute, async (call) => {
        await handler(call as never)
        return done()
      })
    },
  }
}

function routeOf(prefix: string, declared: ApiRoute): Route {
  const { method, path, access, cors = 'listed', ...operation } = declared
  const route = { method, access, url: `${prefix}${path}`, reads: operation.body?.reads ?? [] }
  const refusals = codesOf({ ...route, operation }).map((code) => CATALOGUE[code].status)
  const successes = Object.keys(operation.answers).map(Number)
  return {
    ...route,
    cors,
    face: { json: 'api', pages: false },
    replies: [...new Set([...successes, ...refusals])],
    operation,
  }
}

function inputOf({ body }: ApiRoute, call: Call): unknown {
  if (body?.kind === 'json') return readBody(body.shape, call.body)
  if (body?.kind === 'deferred') return (merged: Call['body']) => readBody(body.shape, merged)
  return undefined
}
