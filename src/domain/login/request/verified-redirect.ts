/**
 * A redirect URI that was checked against the allowed ones (D-8). Only `verifyRedirect` makes one, and only
 * a function that holds one can redirect: SPEC Authentication 10, R005, R020.
 */
import type { Brand } from '../../../base/brand.ts'
import { matchesRedirect, type RedirectPattern } from '../../../protocol/redirect-uri.ts'

export type VerifiedRedirect = Brand<string, 'VerifiedRedirect'>

/** The text as given when one of the patterns allows it, else undefined. */
export function verifyRedirect(
  text: string,
  allowed: readonly RedirectPattern[],
): VerifiedRedirect | undefined {
  return allowed.some((pattern) => matchesRedirect(pattern, text))
    ? (text as VerifiedRedirect)
    : undefined
}
