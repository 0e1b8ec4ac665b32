/** What sessions need from outside. Built once, in `app/compose`. */
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { ProvenRouters } from '../calls/routers/proven-routers.ts'
import type { CertificateAuthorities } from '../certificates/own/authorities.ts'
import type { LoginPorts } from '../login/ports.ts'
import type { SigningKeys } from '../tokens/keys/signing-keys.ts'
import type { EndedSessions } from './ending/ended-sessions.ts'
import type { EndingPorts } from './ending/ports.ts'
import type { LegacySessionCache } from './legacy-session-cache.ts'

export interface SessionPorts extends LoginPorts, EndingPorts {
  readonly endedSessions: EndedSessions
  /** The keys in memory; the store of the same name exists only inside a transaction. */
  readonly signingKeys: SigningKeys
  /** Every issuer of this controller; known once its listeners listen. */
  readonly issuers: () => readonly Issuer[]
  /** `aud` of our tokens. */
  readonly audience: string
  readonly trustDomain: string
  /** The CAs of our own PKI. */
  readonly authorities: CertificateAuthorities
  readonly sessionCertificateDuration: Duration
  /** Every CA of ours that has not expired; another one when a successor was made (D-129). */
  readonly caBundlePem: () => string
  readonly legacySessionCache: LegacySessionCache
  readonly provenRouters: ProvenRouters
  /** The idle time after which a legacy session ends. */
  readonly sessionTimeout: Duration
  readonly maxSessionDuration: Duration
  /** The latest moment that is certainly past (D-230). */
  readonly past: () => Instant
}
