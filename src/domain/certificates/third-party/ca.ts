/**
 * A third-party CA whose certificates may log in here. API 4.6.
 */
import type { CA } from '../../../entities/ca.ts'
import type { EntityOf } from '../../../entities/field.ts'

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

export interface Ca extends EntityOf<typeof CA> {
  readonly externalIdClaim: ExternalIdClaim | undefined
}
