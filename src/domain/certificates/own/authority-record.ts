/**
 * A stored certificate authority of our own PKI: the root, or the issuing CA below it. D-48: the keys are in the
 * database, encrypted under the installation secret, so that instances need nothing else.
 */
import type { Instant } from '../../../base/time/instant.ts'

export const AUTHORITY_ROLES = ['root', 'issuing'] as const
export type AuthorityRole = (typeof AUTHORITY_ROLES)[number]

export interface StoredAuthority {
  readonly role: AuthorityRole
  /** Starts at 1 for each role and increases by one with each successor. Unique within the role. */
  readonly generation: number
  readonly certificatePem: string
  /** PKCS#8 in DER, encrypted with `<role>/<generation>` as context. */
  readonly sealedKey: string
  readonly createdAt: Instant
  readonly notAfter: Instant
}
