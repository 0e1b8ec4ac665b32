/** What tokens need from outside. Built once, in `app/compose`. */
import type { Duration } from '../../base/time/duration.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { SessionPorts } from '../sessions/ports.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import type { DpopNonces } from './possession/nonces.ts'
import type { BeginSession, SpendRefreshToken, UsedProofs } from './stores.ts'

export interface TokenPorts extends SessionPorts {
  /** The keys in memory; the store of the same name exists only inside a transaction. */
  readonly signingKeys: SigningKeys
  /** Every issuer of this controller; known once its listeners listen. */
  readonly issuers: () => readonly Issuer[]
  readonly dpopNonces: DpopNonces
  readonly usedProofs: UsedProofs
  readonly spendRefreshToken: SpendRefreshToken
  readonly beginSession: BeginSession
  /** `aud` of our tokens. */
  readonly audience: string
  readonly idTokenLife: Duration
  readonly refreshTokenDuration: Duration
  /** D-27: 0 means off. */
  readonly refreshRetryWindow: Duration
}
