/** A third-party CA whose certificates may log in here. API 4.6. */
import type { CA, CLAIM_LOCATIONS, CLAIM_MATCHERS, CLAIM_PARSERS } from '../../../entities/ca.ts'
import type { EntityOf } from '../../../entities/field.ts'

/** Where a certificate of this CA contains the external id of its identity. */
export interface ExternalIdClaim {
  readonly location: (typeof CLAIM_LOCATIONS)[number]
  readonly matcher: (typeof CLAIM_MATCHERS)[number]
  readonly matcherCriteria: string
  readonly parser: (typeof CLAIM_PARSERS)[number]
  readonly parserCriteria: string
  /** The index, from 0, of the matching value, or of the part of a split value. */
  readonly index: number
}

export interface Ca extends EntityOf<typeof CA> {
  readonly externalIdClaim: ExternalIdClaim | undefined
}
