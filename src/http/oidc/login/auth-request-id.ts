/**
 * The auth request id of a login call, under any of its names, in the query or the body. SPEC Auth request; D-4.
 * The three names end here; inside it is one value.
 */
import type { FormFields } from '../../../base/form.ts'
import { invalid } from '../../reading/fields.ts'

const NAMES = ['authRequestId', 'authRequestID', 'id']

export function authRequestIdOf(
  query: FormFields,
  body: ReadonlyMap<string, readonly unknown[]> = new Map(),
): string {
  const given = new Set(
    // A list in JSON counts as several values, like a repeated field of a form.
    NAMES.flatMap((name) => [...(query.get(name) ?? []), ...(body.get(name)?.flat() ?? [])]),
  )
  const [id, ...others] = given
  if (others.length > 0) throw invalid('authRequestId', 'is given with two different values') // R025
  if (id === undefined) throw invalid('authRequestId', 'is missing')
  if (typeof id !== 'string') throw invalid('authRequestId', 'must be a text')
  return id
}
