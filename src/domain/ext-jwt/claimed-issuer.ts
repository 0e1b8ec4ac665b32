/**
 * Reads which issuer a token claims. The claim is unverified: it only selects who must verify the token (D-14: roles by
 * issuer). Ambiguous or excessive JSON is not a JWT: duplicate members, or nesting without limit (R059).
 */
import { fromBase64url } from '../../base/encoding.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import type { Secret } from '../../base/secrets/secret.ts'

/** The same limit as for all JSON that we read (D-44). */
const DEEPEST = 32

/** Returns the `iss` claim; `null` if the JWT has none; undefined if the text is not a JWT. */
export function claimedIssuer(token: Secret): string | null | undefined {
  const claimed = claimedParts(token)
  if (claimed === undefined) return undefined
  const { iss } = claimed.claims
  return typeof iss === 'string' ? iss : null
}

interface ClaimedParts {
  readonly header: JsonObject
  readonly claims: JsonObject
}

/** Each step of a request asks again; a token is parsed once. */
const known = new WeakMap<Secret, { readonly parts: ClaimedParts | undefined }>()

/** Returns header and claims, both unverified; undefined if the text is not a JWT. */
export function claimedParts(token: Secret): ClaimedParts | undefined {
  let entry = known.get(token)
  if (entry === undefined) {
    entry = { parts: readParts(token.reveal()) }
    known.set(token, entry)
  }
  return entry.parts
}

function readParts(text: string): ClaimedParts | undefined {
  const parts = text.split('.')
  const [header, claims] = parts.slice(0, 2).map(readPart)
  if (parts.length !== 3 || header === undefined || claims === undefined) return undefined
  return { header, claims }
}

function readPart(part: string): JsonObject | undefined {
  const value = parseJson(fromBase64url(part), DEEPEST)?.value
  return isJsonObject(value) ? value : undefined
}
