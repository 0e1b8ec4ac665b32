/**
 * Reads which issuer a token claims. The claim is unverified: it only selects who must verify the token (D-14: roles by
 * issuer). Ambiguous or excessive JSON is not a JWT: duplicate members, or nesting without limit (R059).
 */
import { fromBase64url, fromUtf8 } from '../../base/encoding.ts'
import { parseJson } from '../../base/json.ts'
import type { Secret } from '../../base/secrets/secret.ts'

/** The same limit as for all JSON that we read (D-44). */
const DEEPEST = 32

/** Returns the `iss` claim; `null` if the JWT has none; undefined if the text is not a JWT. */
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
