/**
 * Whose token this claims to be. Unverified: it only chooses who has to check it (D-14: roles by issuer).
 */
import { decodeJwt } from 'jose'
import type { Secret } from '../../base/secret.ts'

/** The `iss` claim; `null` when a JWT has none; undefined when the text is no JWT at all. */
export function claimedIssuer(token: Secret): string | null | undefined {
  try {
    const { iss } = decodeJwt(token.reveal())
    return typeof iss === 'string' ? iss : null
  } catch {
    return undefined
  }
}
