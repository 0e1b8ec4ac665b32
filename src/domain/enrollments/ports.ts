/** The ports of enrollments and of renewals. Built once, in `app/compose`. */
import type { Duration } from '../../base/time/duration.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { CertificatePorts } from '../certificates/ports.ts'
import type { AddressFailures } from '../factors/guessing/failures.ts'
import type { BeginGuess } from '../factors/guessing/guess-order.ts'
import type { FactorPorts } from '../factors/ports.ts'
import type { EndingPorts } from '../sessions/ending/ports.ts'
import type { Stores } from '../stores.ts'
import type { EnrollmentJwtPorts } from './enrollment-jwt.ts'
import type { Announce } from './links/notice.ts'
import type { CountRenewal } from './renewal/renewal-limit.ts'

export interface EnrollmentPorts
  extends CertificatePorts,
    FactorPorts,
    EndingPorts,
    EnrollmentJwtPorts,
    Pick<Stores, 'enrollments' | 'authPolicies'> {
  /** Every issuer of this controller. Links lead to the pages beside one of them (D-376). */
  readonly issuers: () => readonly Issuer[]
  /** `notifications.webhook`. */
  readonly announce: Announce
  /** `edge.enrollment.duration`. */
  readonly enrollmentDuration: Duration
  /** D-317: unused enrollments keep their JWT, sealed. */
  readonly keepsEnrollmentJwt: boolean
  /** Counts only wrong tokens (D-22). */
  readonly enrollmentFailures: AddressFailures
  /** Records the refusals of one network one at a time. */
  readonly beginEnrollmentRefusal: BeginGuess
  readonly countRenewal: CountRenewal
}
