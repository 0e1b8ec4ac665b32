/**
 * Whose token this claims to be. Unverified: it only chooses who has to check it (D-14: roles by issuer).
 * What cannot be read in one way only is no JWT: a member named twice, or nesting without end (R059).
 */
import { fromBase64url, fromUtf8 } from '../../base/encoding.ts'
import { parseJson } from '../../base/json.ts'
import type { Secret } from '../../base/secrets/secret.ts'

/** As deep as any JSON that we read (D-44). */
const DEEPEST = 32

/** The `iss` claim; `null` when a JWT has none; undefined when the text is no JWT at all. */
export function claimedIssuer(token: Secret): string | null | undefined {
  const parts = token.reveal().split('.')
  const [header, claims] = parts.slice(0, 2).map(readPart)
  if (parts.length !== 3 || header === undefined || claims === undefined) return undefined
  const { iss } = claims
  return typeof iss === 'string' ? iss : null
}

function readPart(part: string): { readonly iss?: unknown } | undefined {
  const bytes = fromBase64url(part)
  const text = bytes && fromUtf8(bytes)
  const value = text === undefined ? undefined : parseJson(text, DEEPEST)?.value
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}
