/**
 * The claim of an external JWT that names the identity: by its name, or by a JSON pointer (RFC 6901) when it
 * begins with a slash. API 4.5. Whose name it is, is looked up elsewhere.
 */
import { LONGEST_NAME } from '../../protocol/limits.ts'

/** Whether this can name a claim at all. */
export function isClaimsProperty(property: string): boolean {
  if (property === '' || property.length > LONGEST_NAME) return false
  // RFC 6901 §3: a tilde is half of ~0 or ~1.
  return !property.startsWith('/') || !/~(?![01])/.test(property)
}

/** The text of the claim; undefined where there is none, or none that could name anybody (R059). */
export function claimedSubject(claims: unknown, property: string): string | undefined {
  const value = isClaimsProperty(property) ? valueAt(claims, stepsOf(property)) : undefined
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_NAME) return undefined
  // No database keeps half a surrogate pair or a NUL, and nobody can read a control character.
  return value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : undefined
}

function stepsOf(property: string): readonly string[] {
  if (!property.startsWith('/')) return [property]
  // RFC 6901 §4: ~1 before ~0, or `~01` would become a slash.
  return property
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function valueAt(claims: unknown, steps: readonly string[]): unknown {
  let value = claims
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined
    // RFC 6901 §4: an index has no leading zeros; `length` is a member of arrays, but not of the document.
    if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/.test(step)) return undefined
    if (!Object.hasOwn(value, step)) return undefined
    value = Reflect.get(value, step)
  }
  return value
}
