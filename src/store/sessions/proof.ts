/**
 * A proven primary factor as JSON, for logins and sessions. The identity is stored once, in a column of the row: a
 * factor never belongs to another identity than the login (D-13).
 */
import type { AuthenticatorId, CaId, ExternalJwtSignerId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ProvenPrimary } from '../../domain/factors/proven.ts'
import { PRIMARY_METHODS } from '../../domain/identities/primary-methods.ts'
import { boolean, integer, listOf, object, oneOf, optional, text } from '../reading.ts'
import { FURTHER_FACTORS } from './second-factors.ts'

export const PROOF = object({
  method: oneOf(...PRIMARY_METHODS),
  authenticatorId: optional(text<AuthenticatorId>),
  credentialVersion: optional(integer),
  certificate: optional(
    object({
      fingerprint: text,
      isIssuedByNetwork: boolean,
      notAfter: optional(integer<Instant>),
      trust: optional(
        object({
          caId: text<CaId>,
          throughCaIds: listOf(text<CaId>),
          casEndAt: integer<Instant>,
        }),
      ),
    }),
  ),
  signerId: optional(text<ExternalJwtSignerId>),
  voidedLogins: optional(integer),
  at: integer<Instant>,
})

/** What was proven for a session. TOTP has its own column. */
export const PROVEN = object({
  primary: PROOF,
  extJwt: optional(text<ExternalJwtSignerId>),
  factors: FURTHER_FACTORS,
  isRecovered: optional(boolean),
  /** The key of DPoP, for an OIDC session. */
  boundKey: optional(text),
  isSealed: optional(boolean),
  isDevice: optional(boolean),
  /** What the login of a legacy session required. */
  demanded: FURTHER_FACTORS,
})

export type Proof = ReturnType<typeof PROOF>

export function proofOf({ identityId: _, ...proof }: ProvenPrimary): Proof {
  return proof
}
