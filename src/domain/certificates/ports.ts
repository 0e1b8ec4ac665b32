/** The ports of the certificates folder. Built once, in `app/compose`. */
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { CertificateAuthorities } from './own/authorities.ts'

export interface CertificatePorts {
  readonly clock: Clock
  readonly random: Random
  /** The CAs of our own PKI. */
  readonly authorities: CertificateAuthorities
  /** Our own root and issuing CAs, in PEM. */
  readonly ownAnchors: () => readonly string[]
  readonly trustDomain: string
  /** `edge.enrollment.certificateDuration`. */
  readonly enrolledCertificateDuration: Duration
}
