/**
 * Reads the auth request id of a login call, under any of its three names, from the query or the body. SPEC Auth
 * request; D-4. The rest of the code sees one value.
 */

import type { FormFields } from '../../../base/form.ts'
import { areStrings } from '../../../base/json.ts'
import { invalid } from '../../../domain/refusals.ts'
import type { Fields } from '../../reading/fields.ts'

const NAMES = ['authRequestId', 'authRequestID', 'id']

/** The name that the specification has for the id at an endpoint. Refusals use it, whichever name the caller sent. */
export type IdField = 'authRequestId' | 'id'

/** Throws COULD_NOT_VALIDATE, which names `field`. */
export function authRequestIdOf(query: FormFields, body: Fields, field: IdField): string {
  const values = NAMES.flatMap((name) => [...(query.get(name) ?? []), ...(body.get(name) ?? [])])
  // Every value is checked, so that a JSON list never counts as the id that is in it.
  if (!areStrings(values)) throw invalid(field, 'must be a text')
  const [id, ...others] = new Set(values)
  if (others.length > 0) throw invalid(field, 'is given with two different values') // R025
  if (id === undefined) throw invalid(field, 'is missing')
  return id
}
