/** What enrollments, and renewals of what was enrolled, need from outside. Built once, in `app/compose`. */
import type { Duration } from '../../base/time/duration.ts'
import type { CertificatePorts } from '../certificates/ports.ts'
import type { AddressFailures } from '../factors/guessing/failures.ts'
import type { BeginGuess } from '../factors/guessing/guess-order.ts'
import type { FactorPorts } from '../factors/ports.ts'
import type { EndingPorts } from '../sessions/ending/ports.ts'
import type { Stores } from '../stores.ts'
import type { EnrollmentJwtPorts } from './enrollment-jwt.ts'
import type { CountRenewal } from './renewal/renewal-limit.ts'

export interface EnrollmentPorts
  extends CertificatePorts,
    FactorPorts,
    EndingPorts,
    EnrollmentJwtPorts,
    Pick<Stores, 'enrollments' | 'authPolicies'> {
  /** `edge.enrollment.duration`. */
  readonly enrollmentDuration: Duration
  /** Counts wrong tokens only (D-22). */
  readonly enrollmentFailures: AddressFailures
  /** One network's refusals are recorded one after the other. */
  readonly beginEnrollmentRefusal: BeginGuess
  readonly countRenewal: CountRenewal
}
