/**
 * Content negotiation: whether the caller gets a page or JSON. D-11: HTML when `Accept` prefers it, JSON otherwise.
 */
import Negotiator from 'negotiator'
import { Failure } from '../../errors/catalogue.ts'
import type { RequestHead } from './header-fields.ts'

type Headers = Pick<RequestHead, 'headers'>

/**
 * With the charset that JSON always has, to match callers that name it (RFC 9110 §12.5.1). Responses do not name it: D-307.
 */
const JSON_TYPE = 'application/json; charset=utf-8'
const HTML_TYPE = 'text/html; charset=utf-8'

/** D-210: ten times the length that any browser sends. */
const LONGEST_FIELD = 1_000

/** The header fields that are negotiated on. */
const FIELDS = ['accept', 'accept-encoding', 'accept-language'] as const

/**
 * Reads the preferences of a caller. A field that is too long counts as not sent, as RFC 9110 §12.5.1 allows: each
 * range in it is compared with each type on offer, which would be the most expensive part of most requests.
 */
export function preferencesOf({ headers }: Headers): Negotiator {
  const short = FIELDS.map((name) => [name, headers[name]] as const).filter(
    ([, value]) => value !== undefined && value.length <= LONGEST_FIELD,
  )
  return new Negotiator({ headers: Object.fromEntries(short) })
}

/** R023: for routes that serve only pages. Throws NOT_ACCEPTABLE if the caller accepts none. */
export function requireHtml(head: Headers): void {
  if (preferencesOf(head).mediaType(['text/html']) === undefined) {
    throw new Failure('NOT_ACCEPTABLE')
  }
}

type Wanted = 'html' | 'json' | undefined

/** By the field, of which callers send few different ones. The oldest is dropped. */
const wanted = new Map<string | undefined, Wanted>()
const MOST_WANTED = 200

/** Undefined if the caller accepts neither. */
export function wantedContent(head: Headers): Wanted {
  const { accept } = head.headers
  if (wanted.has(accept)) return wanted.get(accept)
  const content = bestContent(head)
  if (accept !== undefined && accept.length > LONGEST_FIELD) return content
  wanted.set(accept, content)
  if (wanted.size > MOST_WANTED) wanted.delete(wanted.keys().next().value)
  return content
}

function bestContent(head: Headers): Wanted {
  const [best] = preferencesOf(head).mediaTypes([JSON_TYPE, HTML_TYPE])
  if (best === undefined) return undefined
  return best === HTML_TYPE ? 'html' : 'json'
}
