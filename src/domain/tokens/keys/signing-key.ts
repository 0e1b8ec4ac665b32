/**
 * One key that signs tokens, as it is stored: D-23. When it may sign and how long it stays published follow from its
 * neighbours (`key-schedule.ts`), so no state has to be kept in sync.
 */
import type { Duration } from '../../../base/time/duration.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { SIGNING_KEY } from '../../../entities/signing-key.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../../protocol/signing-algorithms.ts'

export { SIGNING_ALGORITHMS, type SigningAlgorithm }

/** The kinds of token that we sign. Each has keys of its own (D-320). */
export const TOKEN_KINDS = ['access', 'id'] as const
export type TokenKind = (typeof TOKEN_KINDS)[number]

/** Which kind of token a key signs. `any`: a key from before each kind had its own; it retires at its next rotation. */
export const KEY_PURPOSES = SIGNING_KEY.purpose.choices

export interface StoredSigningKey {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string
  /** 1 for the first key, one more for each that follows, whatever it signs. Unique: the tie-breaker between instances. */
  readonly generation: number
  readonly purpose: (typeof KEY_PURPOSES)[number]
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
