/**
 * The credentials that a request carries. D-14: several bearer tokens travel as several `Authorization` fields or
 * as one field `Bearer a, Bearer b`; Node keeps only the first field in `headers`, so `rawHeaders` is read.
 */
import type { FastifyRequest } from 'fastify'
import { Secret } from '../../base/secrets/secret.ts'
import { ZT_SESSION_HEADER } from '../../protocol/headers.ts'

/** Every value of a header field, as it came. `name` in lower case. */
export function rawValues(request: FastifyRequest, name: string): readonly string[] {
  const { rawHeaders } = request.raw
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
}

/** Tokens of the scheme Bearer (case-insensitive, RFC 9110 §11.1); other schemes are not ours to read. */
export function bearersOf(request: FastifyRequest): readonly Secret[] {
  return rawValues(request, 'authorization')
    .flatMap((field) => field.split(','))
    .map((part) => /^bearer(?:\s+(.*))?$/i.exec(part.trim()))
    .filter((match) => match !== null)
    .map((match) => new Secret(match[1] ?? ''))
}

export function ztSessionOf(request: FastifyRequest): Secret | undefined {
  const values = rawValues(request, ZT_SESSION_HEADER)
  // D-120. Repeated, it could mean two sessions to two readers. Joined, as RFC 9110 §5.3 reads it, it opens neither.
  return values.length === 0 ? undefined : new Secret(values.join(', '))
}
