import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
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
  /** Stores a request after its first factor; false when one of that key is stored already (R028: one code). */
  insert(request: PartiallyAuthenticated | CodeIssued): Promise<boolean>
  /** Saves the next state over the one of revision `previous`; false when somebody else was faster. */
  replace(previous: number, next: PartiallyAuthenticated | CodeIssued): Promise<boolean>
  /**
   * Counts one wrong code in one statement, and with the `most`th ends the request (D-18). The revision stays: a
   * wrong code must not get in the way of a right one.
   */
  addWrongCode(key: AuthRequestKey, most: number): Promise<{ readonly isEnded: boolean }>
  /**
   * Spends the code in one statement and answers the request as it was, with the redemption recorded;
   * undefined when no request has that code unspent. An expired code is spent like any other: the caller
   * looks at `codeExpiresAt`.
   */
  takeByCode(codeHash: SecretHash, redemption: Redemption): Promise<CodeIssued | undefined>
  /** The request whose code was spent already. */
  findRedeemed(codeHash: SecretHash): Promise<TokensIssued | undefined>
  /** Removes at most `limit` requests that expired before `before`; answers how many it removed. */
  removeExpired(before: Instant, limit: number): Promise<number>
}

/** States that came back from an IdP: each works once, on every instance (D-155). */
export interface SpentStates {
  /** False when it was spent before. */
  insert(state: { readonly hash: SecretHash; readonly expiresAt: Instant }): Promise<boolean>
  /** Removes at most `limit` that expired before `before`; answers how many it removed. */
  removeExpired(before: Instant, limit: number): Promise<number>
}
