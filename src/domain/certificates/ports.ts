/** What the use cases of certificates need from outside. */
import type { Clock } from '../../base/time/clock.ts'

export interface CertificatePorts {
  readonly clock: Clock
  /** Our own root and issuing CAs, in PEM. */
  readonly ownAnchors: () => readonly string[]
}
