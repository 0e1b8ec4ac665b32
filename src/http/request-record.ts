/**
 * What is known about a request when its log line is written. Stored beside the request; only the router writes it and
 * only the listener reads it. Handlers use `Call` and `Answer`.
 */
import type { FastifyRequest } from 'fastify'
import type { IdentityId } from '../base/ids.ts'
import type { CallSession } from '../domain/sessions/call-session.ts'
import type { Failure } from '../errors/catalogue.ts'
import type { Address } from './addresses.ts'
import type { RequestTrace } from './request-observer.ts'

export interface RequestRecord {
  /** Set on routes that require one. */
  session?: CallSession
  /** The identity that made the request, once known. */
  identity?: IdentityId
  sessionId?: string
  failure?: Failure
  /** The address, if it exists but not for this method. */
  address?: Address | undefined
  /** When it arrived; undefined if it failed before that was recorded. */
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
