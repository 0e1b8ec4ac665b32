/**
 * The claim of an external JWT that names the identity: selected by its name, or by a JSON pointer (RFC 6901) if it
 * begins with a slash. API 4.5. Other code looks up the identity.
 */
import { LONGEST_NAME } from '../../protocol/limits.ts'

export function isClaimsProperty(property: string): boolean {
  if (property === '' || property.length > LONGEST_NAME) return false
  // RFC 6901 §3: a tilde is always part of ~0 or ~1.
  return !property.startsWith('/') || !/~(?![01])/.test(property)
}

/** Returns the text of the claim, or undefined if it is missing or cannot name an identity (R059). */
export function claimedSubject(claims: unknown, property: string): string | undefined {
  const value = isClaimsProperty(property) ? valueAt(claims, stepsOf(property)) : undefined
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_NAME) return undefined
  // Databases cannot store a lone surrogate or a NUL, and control characters are not readable.
  return value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : undefined
}

function stepsOf(property: string): readonly string[] {
  if (!property.startsWith('/')) return [property]
  // RFC 6901 §4: replace ~1 before ~0, or `~01` would become a slash.
  return property
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function valueAt(claims: unknown, steps: readonly string[]): unknown {
  let value = claims
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined
    // RFC 6901 §4: an index has no leading zeros. `length` is a property of arrays, but not a member of the document.
    if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/.test(step)) return undefined
    if (!Object.hasOwn(value, step)) return undefined
    value = Reflect.get(value, step)
  }
  return value
}
