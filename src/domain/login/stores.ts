import type { Instant } from '../../base/instant.ts'
import type { SecretHash } from '../../base/vault.ts'
import type {
  AuthRequestKey,
  CodeIssued,
  Redemption,
  StoredAuthRequest,
  TokensIssued,
} from './auth-request.ts'

export interface AuthRequests {
  find(key: AuthRequestKey): Promise<StoredAuthRequest | undefined>
  /** Stores a request that got its code; false when one of that key is stored already (R028: one code). */
  insert(request: CodeIssued): Promise<boolean>
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
