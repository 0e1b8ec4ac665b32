/**
 * Whether the caller wants a page or JSON. D-11: HTML when `Accept` prefers it, JSON otherwise.
 */
import type { FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'

/** As answers are labelled: a caller who names the charset takes them too (RFC 9110 §12.5.1). */
const JSON_TYPE = 'application/json; charset=utf-8'
const HTML_TYPE = 'text/html; charset=utf-8'

/** Undefined when the caller takes neither. */
export function wantedContent(request: FastifyRequest): 'html' | 'json' | undefined {
  const [best] = new Negotiator(request.raw).mediaTypes([JSON_TYPE, HTML_TYPE])
  if (best === undefined) return undefined
  return best === HTML_TYPE ? 'html' : 'json'
}
