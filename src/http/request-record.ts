/**
 * What is known about a request when its log line is written. Kept beside the request, and touched only by the router,
 * which fills it, and by the listener, which reads it: handlers have `Call` and `Answer`.
 */
import type { FastifyRequest } from 'fastify'
import type { IdentityId } from '../base/ids.ts'
import type { CallSession } from '../domain/sessions/call-session.ts'
import type { Failure } from '../errors/catalogue.ts'
import type { Address } from './addresses.ts'
import type { RequestTrace } from './request-observer.ts'

export interface RequestRecord {
  /** Of a route that requires one. */
  session?: CallSession
  /** Whose request it turned out to be. */
  identity?: IdentityId
  sessionId?: string
  failure?: Failure
  /** The address that exists, but not for this method. */
  address?: Address | undefined
  /** When it arrived; undefined if it failed before that was noted. */
  begunAt?: number
  trace?: RequestTrace | undefined
}

export function recordOf(request: FastifyRequest): RequestRecord {
  request.record ??= {}
  return request.record
}

declare module 'fastify' {
  interface FastifyRequest {
    record: RequestRecord | undefined
  }
}
