/**
 * Request bodies: JSON, a form or plain text, parsed strictly into one shape. D-11, D-44. Each route validates its own
 * fields.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fromUtf8 } from '../../base/encoding.ts'
import { countFields, type FormFields, parseForm } from '../../base/form.ts'
import { isJsonObject, parseJson, shapeOf } from '../../base/json.ts'
import { invalid } from '../../domain/refusals.ts'
import { Failure } from '../../errors/catalogue.ts'

export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'form'; readonly fields: FormFields }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }

/** The content types of each kind of body that a route can accept. `pem`: text under those of certificate requests. */
export const BODY_TYPES = {
  json: ['application/json'],
  form: ['application/x-www-form-urlencoded'],
  text: ['text/plain'],
  pem: ['application/x-pem-file', 'application/pkcs10'],
} as const

export type Reads = keyof typeof BODY_TYPES

/** D-44: JSON depth is bounded. */
const DEEPEST_JSON = 32

/** D-44: the most parameters of a form or a query; more than any client sends. */
const MOST_FIELDS = 256

/**
 * D-44: the most members and elements of JSON. Without a limit, the caller decides how long parsing and checking take.
 */
export const MOST_ENTRIES = { anonymous: 256, authenticated: 10_000 } as const

/** Checks the limit before anything is decoded. Throws COULD_NOT_VALIDATE. */
export function refuseManyFields(text: string, where: 'body' | 'query'): void {
  if (countFields(text) > MOST_FIELDS) {
    throw invalid(where, `must have at most ${MOST_FIELDS} fields`)
  }
}

/** Replaces Fastify's parsers with ours. Any other content type is 415. */
export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  for (const kind of Object.keys(BODY_TYPES) as Reads[]) {
    app.addContentTypeParser(
      [...BODY_TYPES[kind]],
      { parseAs: 'buffer' },
      async (request: FastifyRequest, bytes: Buffer) => readBody(request, kind, bytes),
    )
  }
}

function readBody(request: FastifyRequest, kind: Reads, bytes: Buffer): Body {
  if (bytes.length === 0) return { kind: 'none' } // D-11: an empty body counts as {}
  const { reads, mostEntries = MOST_ENTRIES.anonymous } = request.routeOptions.config
  if (reads?.includes(kind) !== true) throw new Failure('UNSUPPORTED_MEDIA_TYPE')
  const text = fromUtf8(bytes)
  const body = text === undefined ? undefined : parseBody(kind, text, mostEntries)
  if (body === undefined) throw new Failure('COULD_NOT_PARSE_BODY')
  return body
}

function parseBody(kind: Reads, text: string, mostEntries: number): Body | undefined {
  switch (kind) {
    case 'json': {
      const { depth, entries } = shapeOf(text)
      if (depth <= DEEPEST_JSON && entries > mostEntries) {
        throw invalid('body', `must have at most ${mostEntries} members and elements`)
      }
      const parsed = parseJson(text, DEEPEST_JSON)
      return parsed && { kind, value: parsed.value }
    }
    case 'form': {
      refuseManyFields(text, 'body')
      const fields = parseForm(text)
      return fields && { kind, fields }
    }
    default:
      return { kind: 'text', text }
  }
}

/**
 * Returns the fields of a login body by name, for JSON and forms alike. Each field has all its values, so that a
 * repeated one can be rejected. JSON has one value per field, of any type; a list is one value, and null is none (D-309).
 */
export function bodyFields(body: Body): ReadonlyMap<string, readonly unknown[]> {
  if (body.kind === 'form') return body.fields
  if (body.kind === 'none') return new Map()
  if (body.kind === 'text') throw new Failure('UNSUPPORTED_MEDIA_TYPE')
  const { value } = body
  if (!isJsonObject(value)) throw invalid('body', 'must be an object')
  const members = Object.entries(value).filter(([, one]) => one !== null)
  return new Map(members.map(([name, one]) => [name, [one]]))
}
