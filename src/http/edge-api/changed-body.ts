/**
 * Bodies of PUT and PATCH: API 1, D-121. Both become the body that would create the changed entity, which is then
 * parsed like that of a create. So a change is validated by its result, and each field has its rule only once.
 */

import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { invalid } from '../../domain/refusals.ts'
import type { Body } from '../reading/body.ts'

/** Maps with arbitrary keys: a change replaces them as a whole, and null is a value in them. */
const WHOLE: readonly string[] = ['tags', 'appData']

/** PATCH, as in RFC 7396: changes what the body names, also in nested objects; null clears. */
export function patched(current: JsonObject, body: Body): Body {
  const value = contentOf(body)
  return isJsonObject(value) ? { kind: 'json', value: merge(current, value) } : body
}

/** PUT: fields that never change may be omitted. Throws COULD_NOT_VALIDATE if one has another value. */
export function withFixed(fixed: JsonObject, body: Body): Body {
  const value = contentOf(body)
  if (!isJsonObject(value)) return body
  for (const [name, known] of Object.entries(fixed)) {
    // D-309: null is as good as omitted.
    const isGiven = Object.hasOwn(value, name) && value[name] !== null
    if (isGiven && value[name] !== known) throw invalid(name, 'stays as it is')
  }
  return withDefaults(fixed, body)
}

/** Fills in the members that the body omits. */
export function withDefaults(given: JsonObject, body: Body): Body {
  const value = contentOf(body)
  if (!isJsonObject(value)) return body
  const named = Object.entries(value).filter(
    ([name, one]) => one !== null || !Object.hasOwn(given, name),
  )
  return { kind: 'json', value: Object.fromEntries([...Object.entries(given), ...named]) }
}

/** Whether the body has this member, as null. */
export function isNull(body: Body, name: string): boolean {
  const value = contentOf(body)
  return isJsonObject(value) && Object.hasOwn(value, name) && value[name] === null
}

/** D-11: a missing body counts as `{}`. */
function contentOf(body: Body): unknown {
  return body.kind === 'json' ? body.value : {}
}

function merge(current: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(current))
  for (const [name, value] of Object.entries(patch)) {
    const before = merged.get(name)
    // Null stays: `readBody` treats it as absent where a field is optional, and refuses it for an unknown field (D-309).
    if (!isJsonObject(value) || WHOLE.includes(name)) merged.set(name, value)
    else merged.set(name, merge(isJsonObject(before) ? before : {}, value))
  }
  // Not assigned to an object: `__proto__` may be one of the names.
  return Object.fromEntries(merged)
}
