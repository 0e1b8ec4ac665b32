/**
 * A proven primary factor as JSON, for logins and sessions. Whose it is stands in a column of the row, once: a
 * factor never belongs to another identity than the login (D-13).
 */
import type { AuthenticatorId, ExternalJwtSignerId } from '../base/ids.ts'
import type { Instant } from '../base/instant.ts'
import { PRIMARY_METHODS, type ProvenPrimary } from '../domain/login/proven.ts'
import { boolean, integer, object, oneOf, optional, text } from './reading.ts'

export const PROOF = object({
  method: oneOf(...PRIMARY_METHODS),
  authenticatorId: optional(text<AuthenticatorId>),
  certificate: optional(object({ fingerprint: text, isIssuedByNetwork: boolean })),
  signerId: optional(text<ExternalJwtSignerId>),
  at: integer<Instant>,
})

export type Proof = ReturnType<typeof PROOF>

export function proofOf({ identityId: _, ...proof }: ProvenPrimary): Proof {
  return proof
}
