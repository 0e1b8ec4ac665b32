/**
 * Bodies of PUT and PATCH: API 1, D-121. Either becomes the body that would make the entity as it is to be, which is then
 * read as that of a create. So a change is judged by its result, and no field has its rule twice.
 */
import type { Body } from '../reading/body.ts'
import { invalid } from '../reading/fields.ts'

type Members = Readonly<Record<string, unknown>>

/** Maps without fields of their own: a change replaces them as a whole, and null is a value in them. */
const WHOLE: readonly string[] = ['tags', 'appData']

/** PATCH, as RFC 7396 has it: what the body names is changed, also inside of parts; null clears. */
export function patched(current: Members, body: Body): Body {
  const value = contentOf(body)
  return isMembers(value) ? { kind: 'json', value: merge(current, value) } : body
}

/** PUT: what never changes need not be named; thrown: COULD_NOT_VALIDATE where it is named as something else. */
export function withFixed(fixed: Members, body: Body): Body {
  const value = contentOf(body)
  if (!isMembers(value)) return body
  for (const [name, known] of Object.entries(fixed)) {
    if (Object.hasOwn(value, name) && value[name] !== known) throw invalid(name, 'stays as it is')
  }
  return withDefaults(fixed, body)
}

/** What the body leaves out, from somewhere else. */
export function withDefaults(given: Members, body: Body): Body {
  const value = contentOf(body)
  if (!isMembers(value)) return body
  return { kind: 'json', value: members([...Object.entries(given), ...Object.entries(value)]) }
}

/** D-11: no body at all counts as `{}`. */
function contentOf(body: Body): unknown {
  return body.kind === 'json' ? body.value : {}
}

function merge(current: Members, patch: Members): Members {
  const merged = new Map(Object.entries(current))
  for (const [name, value] of Object.entries(patch)) {
    const before = merged.get(name)
    if (value === null) merged.delete(name)
    else if (!isMembers(value) || WHOLE.includes(name)) merged.set(name, value)
    else merged.set(name, merge(isMembers(before) ? before : {}, value))
  }
  return members(merged)
}

/** Own members alone, whatever their names: `__proto__` is one of them. */
function members(entries: Iterable<readonly [string, unknown]>): Members {
  return Object.fromEntries(entries)
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
