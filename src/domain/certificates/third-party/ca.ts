/**
 * A third-party CA whose certificates may log in here. API 4.6.
 */
import type { CaId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { Tags } from '../../identities/identity.ts'

export const CLAIM_LOCATIONS = ['COMMON_NAME', 'SAN_URI', 'SAN_EMAIL'] as const
export const CLAIM_MATCHERS = ['ALL', 'PREFIX', 'SUFFIX', 'SCHEME'] as const
export const CLAIM_PARSERS = ['NONE', 'SPLIT'] as const

/** Where in a certificate of this CA the external id of its identity stands. */
export interface ExternalIdClaim {
  readonly location: (typeof CLAIM_LOCATIONS)[number]
  readonly matcher: (typeof CLAIM_MATCHERS)[number]
  readonly matcherCriteria: string
  readonly parser: (typeof CLAIM_PARSERS)[number]
  readonly parserCriteria: string
  /** Which of the matching values, or which part of a split one, counted from 0. */
  readonly index: number
}

export interface Ca {
  readonly id: CaId
  readonly name: string
  readonly certPem: string
  /** SHA-256 of the certificate, lower-case hex. Unique. */
  readonly fingerprint: string
  readonly isVerified: boolean
  /** CN of the certificate that proves possession of the CA's key; undefined once it is verified. */
  readonly verificationToken: string | undefined
  readonly isAuthEnabled: boolean
  readonly isOttCaEnrollmentEnabled: boolean
  readonly isAutoCaEnrollmentEnabled: boolean
  readonly identityRoles: readonly string[]
  readonly identityNameFormat: string
  readonly externalIdClaim: ExternalIdClaim | undefined
  readonly tags: Tags
  readonly createdAt: Instant
  readonly updatedAt: Instant
}
