/** What sessions need from outside. Built once, in `app/compose`. */

import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { LoopTurns } from '../../base/time/loop-turns.ts'
import type { CertificateAuthorities } from '../certificates/own/authorities.ts'
import type { LoginPorts } from '../login/ports.ts'
import type { CollectedEndings } from './confirming/collected-endings.ts'
import type { EndedSessions } from './ending/ended-sessions.ts'
import type { EndingPorts } from './ending/ports.ts'
import type { LegacySessionCache } from './legacy-session-cache.ts'

export interface SessionPorts extends LoginPorts, EndingPorts {
  readonly endedSessions: EndedSessions
  readonly trustDomain: string
  /** The CAs of our own PKI. */
  readonly authorities: CertificateAuthorities
  readonly sessionCertificateDuration: Duration
  /** All our CAs that have not expired; changes when a successor is created (D-129). */
  readonly caBundlePem: () => string
  readonly legacySessionCache: LegacySessionCache
  readonly collectedEndings: CollectedEndings
  readonly loopTurns: LoopTurns
  /** The idle time after which a legacy session ends. */
  readonly sessionTimeout: Duration
  readonly maxSessionDuration: Duration
  /** The latest moment that is certainly past (D-230). */
  readonly past: () => Instant
}
