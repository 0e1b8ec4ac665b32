import type { ApiSessionId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { RefreshToken } from '../factors/refresh-token.ts'
import type { StoredSigningKey } from './keys/signing-key.ts'

export interface SigningKeyStore {
  /** Every key, oldest generation first. */
  list(): Promise<readonly StoredSigningKey[]>
  /** False when a key of that generation exists: another instance was faster. */
  insert(key: StoredSigningKey): Promise<boolean>
  /** Records that tokens living this long are being signed; never lowers the recorded life. */
  raiseTokenLife(life: Duration): Promise<void>
  remove(kid: string): Promise<boolean>
  /** Every key of an earlier generation: they were withdrawn. Answers which. */
  removeBefore(generation: number): Promise<readonly StoredSigningKey[]>
}

export interface RefreshTokens {
  find(hash: SecretHash): Promise<RefreshToken | undefined>
  insert(token: RefreshToken): Promise<void>
  /** Spends an unspent one in one statement; of fifty at once one answers true (R040). */
  take(hash: SecretHash, spending: { at: Instant; successor: SecretHash }): Promise<boolean>
  /** Every one of a session: it ends. */
  removeOf(sessionId: ApiSessionId): Promise<void>
  removeExpired(before: Instant, limit: number): Promise<number>
}
