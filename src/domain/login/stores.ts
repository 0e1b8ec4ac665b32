import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { SpentChallenges } from '../factors/stores.ts'
import type {
  AuthRequestKey,
  CodeIssued,
  PartiallyAuthenticated,
  Redemption,
  StoredAuthRequest,
  TokensIssued,
} from './request/auth-request.ts'

export interface AuthRequests {
  find(key: AuthRequestKey): Promise<StoredAuthRequest | undefined>
  /** Stores a request after its first factor. Returns false if one with that key is already stored (R028: one code). */
  insert(request: PartiallyAuthenticated | CodeIssued): Promise<boolean>
  /** Saves the next state if the revision is still `previous`. Returns false if another call was faster. */
  replace(previous: number, next: PartiallyAuthenticated | CodeIssued): Promise<boolean>
  /**
   * Counts one wrong code in one statement, and ends the request with the `most`th one (D-18). Does not change the
   * revision: a wrong code must not block a correct one.
   */
  addWrongCode(key: AuthRequestKey, most: number): Promise<{ readonly isEnded: boolean }>
  /** Finds a login whose code is issued and not spent. */
  findByCode(codeHash: SecretHash): Promise<CodeIssued | undefined>
  /**
   * Spends the code in one statement. Returns the request as it was, with the redemption recorded, or undefined if no
   * request has that code unspent. An expired code is spent like any other: the caller checks `codeExpiresAt`.
   */
  takeByCode(codeHash: SecretHash, redemption: Redemption): Promise<CodeIssued | undefined>
  /** Returns the request whose code was already spent. */
  findRedeemed(codeHash: SecretHash): Promise<TokensIssued | undefined>
  /** Deletes at most `limit` requests that expired before `before`, and returns how many it deleted. */
  removeExpired(before: Instant, limit: number): Promise<number>
}

/** Also the states that came back from an IdP (D-155). */
export interface SpentStates extends SpentChallenges {
  /** Deletes at most `limit` states that expired before `before`, and returns how many it deleted. */
  removeExpired(before: Instant, limit: number): Promise<number>
}
