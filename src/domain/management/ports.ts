/** The ports of the administrators' use cases. Built once, in `app/compose`. */
import type { Issuer } from '../../protocol/oidc.ts'
import type { EnrollmentPorts } from '../enrollments/ports.ts'
import type { ExternalJwtPorts } from '../ext-jwt/ports.ts'
import type { PolicyPorts } from '../policies/ports.ts'
import type { Stores } from '../stores.ts'

export interface ManagementPorts
  extends EnrollmentPorts,
    ExternalJwtPorts,
    PolicyPorts,
    Pick<Stores, 'cas' | 'externalJwtSigners'> {
  /** Every issuer of this controller: no signer may claim one of these. */
  readonly issuers: () => readonly Issuer[]
  /** `edge.externalJwtSigners.fetch.allowHttp`. */
  readonly allowHttp: boolean
}
