/**
 * One key that signs tokens, as it is stored: D-23. When it may sign and how long it stays published follow from its
 * neighbours (`key-schedule.ts`), so no state has to be kept in sync.
 */
import type { Duration } from '../../../base/time/duration.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../../protocol/signing-algorithms.ts'

export { SIGNING_ALGORITHMS, type SigningAlgorithm }

export interface StoredSigningKey {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string
  /** 1 for the first key, one more for each that follows. Unique: the tie-breaker between instances. */
  readonly generation: number
  readonly algorithm: SigningAlgorithm
  /** Public members only, as published (D-32). */
  readonly publicJwk: Readonly<Record<string, string>>
  /** The private JWK, encrypted under the installation secret with the kid as context. */
  readonly sealedPrivateJwk: string
  readonly createdAt: Instant
  /** When it starts signing. Later than `createdAt`, so that verifiers know it before its first use. */
  readonly activeFrom: Instant
  /** The longest lifetime of a token that it has signed. */
  readonly tokenLife: Duration
}
