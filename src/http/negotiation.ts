/**
 * Whether the caller wants a page or JSON. D-11: HTML when `Accept` prefers it, JSON otherwise.
 */
import type { FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'

const OFFERED = ['application/json', 'text/html']

/** Undefined when the caller takes neither. */
export function wantedContent(request: FastifyRequest): 'html' | 'json' | undefined {
  const [best] = new Negotiator(request.raw).mediaTypes(OFFERED)
  if (best === undefined) return undefined
  return best === 'text/html' ? 'html' : 'json'
}
