/**
 * Reads the auth request id of a login call, under any of its three names, from the query or the body. SPEC Auth
 * request; D-4. The rest of the code sees one value.
 */
import type { FormFields } from '../../../base/form.ts'
import { invalid } from '../../reading/fields.ts'

const NAMES = ['authRequestId', 'authRequestID', 'id']

export function authRequestIdOf(
  query: FormFields,
  body: ReadonlyMap<string, readonly unknown[]> = new Map(),
): string {
  const given = new Set(
    // A JSON list counts as several values, like a repeated form field.
    NAMES.flatMap((name) => [...(query.get(name) ?? []), ...(body.get(name)?.flat() ?? [])]),
  )
  const [id, ...others] = given
  if (others.length > 0) throw invalid('authRequestId', 'is given with two different values') // R025
  if (id === undefined) throw invalid('authRequestId', 'is missing')
  if (typeof id !== 'string') throw invalid('authRequestId', 'must be a text')
  return id
}
