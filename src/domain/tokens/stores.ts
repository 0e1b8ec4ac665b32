import type { ApiSessionId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { RefreshToken } from '../factors/refresh-token.ts'
import type { StoredSigningKey } from './keys/signing-key.ts'

export interface SigningKeyStore {
  /** Every key, oldest generation first. */
  list(): Promise<readonly StoredSigningKey[]>
  /** Returns false if a key of that generation exists: another instance was faster. */
  insert(key: StoredSigningKey): Promise<boolean>
  /** Records that tokens with this lifetime are being signed; never lowers the recorded lifetime. */
  raiseTokenLife(life: Duration): Promise<void>
  remove(kid: string): Promise<boolean>
  /** Deletes every key of an earlier generation, because they were withdrawn, and returns them. */
  removeBefore(generation: number): Promise<readonly StoredSigningKey[]>
}

/** A DPoP proof that was used (D-450). */
export interface UsedProof {
  /** Of its key and its `jti`. */
  readonly hash: string
  /** From then on it is not accepted anyway. */
  readonly expiresAt: Instant
}

export interface UsedProofs {
  /** Returns false if the proof was used before. Need not survive a power cut. */
  insert(proof: UsedProof): Promise<boolean>
  removeExpired(before: Instant, limit: number): Promise<number>
}

export interface RefreshTokens {
  find(hash: SecretHash): Promise<RefreshToken | undefined>
  insert(token: RefreshToken): Promise<void>
  /** Spends an unspent token in one statement; of fifty parallel calls one returns true (R040). */
  take(hash: SecretHash, spending: { at: Instant; successor: SecretHash }): Promise<boolean>
  /** Deletes all tokens of a session that ends. */
  removeOf(sessionId: ApiSessionId): Promise<void>
  removeExpired(before: Instant, limit: number): Promise<number>
}
