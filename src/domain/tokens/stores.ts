import type { ApiSessionId, AuthenticatorId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { AuditEvent } from '../audit/events.ts'
import type { ProvenPrimary } from '../factors/proven.ts'
import type { RefreshToken } from '../factors/refresh-token.ts'
import type { Authenticator } from '../identities/authenticator.ts'
import type { Identity } from '../identities/identity.ts'
import type { ApiSession, OidcSession } from '../sessions/api-session.ts'
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

/** A refresh token with what decides whether it may be spent, all of the same moment (D-322). */
export interface OwnedRefreshToken {
  readonly token: RefreshToken
  /** Undefined if it has ended. */
  readonly session: ApiSession | undefined
  /** The owner of the session. */
  readonly identity: Identity | undefined
  readonly authenticators: readonly Authenticator[]
  /** The passkey that the session began with, if it did and the passkey still exists. */
  readonly passkey: { readonly id: AuthenticatorId } | undefined
}

export interface RefreshTokens {
  find(hash: SecretHash): Promise<RefreshToken | undefined>
  /** Reads it all in one statement. */
  findOwned(hash: SecretHash): Promise<OwnedRefreshToken | undefined>
  insert(token: RefreshToken): Promise<void>
  /** Deletes all tokens of a session that ends. */
  removeOf(sessionId: ApiSessionId): Promise<void>
  removeExpired(before: Instant, limit: number): Promise<number>
}

/** What a refresh writes. */
export interface RefreshSpending {
  readonly at: Instant
  /** The token that is spent. */
  readonly hash: SecretHash
  readonly successor: RefreshToken
  /** What the session began with: it must still be registered. */
  readonly primary: ProvenPrimary
  /** The session lasts at least until then. */
  readonly expiresAt: Instant
  readonly tokensEndAt: Instant
  /** Set if the request proved a key. */
  readonly proof: UsedProof | undefined
  readonly event: AuditEvent
}

/** `taken`: another request has spent the token. */
export type SpendingOutcome = 'spent' | 'taken' | 'session-ended' | 'identity-disabled' | 'replayed'

/** In one commit. Returns the first obstacle, in which case only the proof and the new end of the session are written. */
export type SpendRefreshToken = (spending: RefreshSpending) => Promise<SpendingOutcome>

/** What the exchange of a code writes. */
export interface SessionBeginning {
  readonly at: Instant
  readonly redemption: { readonly codeHash: SecretHash; readonly at: Instant }
  /** The identity as it was checked: if it has changed in what ends sessions, the login is over. */
  readonly identity: Identity
  readonly session: OidcSession
  readonly refreshToken: RefreshToken | undefined
  /** Set if the request proved a key. */
  readonly proof: UsedProof | undefined
  readonly event: AuditEvent
}

/** `spent`: another exchange was faster. `gone`: the login may not begin a session any more; its code is spent. */
export type BeginningOutcome = 'begun' | 'spent' | 'gone' | 'replayed'

/** In one commit. */
export type BeginSession = (beginning: SessionBeginning) => Promise<BeginningOutcome>
