import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { FactorOwner } from './factor-owner.ts'
import type { Passkey } from './passkey/passkey.ts'
import type { TotpEnrollment } from './totp/totp-enrollment.ts'

/** The stores of all second factors. A new factor adds its own here, and all who use the registry have it (D-262). */
export interface SecondFactorStores {
  readonly totpEnrollments: TotpEnrollments
  readonly passkeys: Passkeys
  readonly spentStates: SpentChallenges
  readonly recoveryCodes: RecoveryCodes
  readonly codeGuesses: CodeGuesses
}

/** At most one enrollment per identity, pending or verified. */
export interface TotpEnrollments {
  find(identityId: IdentityId): Promise<TotpEnrollment | undefined>
  /** Which of the given identities have a verified enrollment, in one query. */
  listVerified(identityIds: readonly IdentityId[]): Promise<ReadonlySet<IdentityId>>
  /**
   * Stores a pending enrollment and replaces a pending one, even of another owner; also its recovery codes, unless there
   * are none because those of another factor stay. Returns false, and changes nothing, if a verified one exists (R090).
   */
  replacePending(enrollment: TotpEnrollment, recoveryCodes: readonly SecretHash[]): Promise<boolean>
  /**
   * Verifies exactly this pending enrollment of exactly this owner; a verified one has no owner. Its recovery codes, if
   * it has any, replace all others. Of two parallel calls, one returns true. Returns false if the enrollment has no owner
   * (D-240).
   */
  markVerified(
    enrollment: Pick<TotpEnrollment, 'id' | 'identityId' | 'owner'>,
    at: Instant,
  ): Promise<boolean>
  /** Returns false if this owner has no pending enrollment. */
  removePending(identityId: IdentityId, owner: FactorOwner): Promise<boolean>
  /** Pending or verified, with the recovery codes if no other factor is left. */
  remove(identityId: IdentityId): Promise<boolean>
  /**
   * Spends a time step of exactly this enrollment, verified, in one statement (R085). Returns true once; false if this
   * step or a later one was already accepted, or if the enrollment was replaced.
   */
  takeStep(enrollment: Pick<TotpEnrollment, 'id' | 'identityId'>, step: number): Promise<boolean>
}

/** At most `MOST_PASSKEYS` per identity: before an insert the caller counts them, holding the identity. */
export interface Passkeys {
  find(id: AuthenticatorId): Promise<Passkey | undefined>
  /** By the credential id, in base64url. */
  findByCredential(credentialId: string): Promise<Passkey | undefined>
  /** Oldest first. */
  listOf(identityId: IdentityId): Promise<readonly Passkey[]>
  /** Which of the given identities have a passkey, in one query. */
  listEnrolled(identityIds: readonly IdentityId[]): Promise<ReadonlySet<IdentityId>>
  /** Returns false if the credential id is registered already, by whomever. */
  insert(passkey: Passkey): Promise<boolean>
  /**
   * Records a use in one statement. Returns false, and records nothing, if the passkey was removed or its counter would
   * not grow: zero stays zero, everything else must be greater.
   */
  markUsed(
    id: AuthenticatorId,
    use: { readonly signCount: number; readonly isBackedUp: boolean; readonly at: Instant },
  ): Promise<boolean>
  /** Returns false if the identity has no such passkey. */
  rename(identityId: IdentityId, id: AuthenticatorId, name: string): Promise<boolean>
  /**
   * With the recovery codes, if it was the last factor; also with a pending authenticator app that has no codes of its
   * own, because it relied on these (D-437). Returns false if the identity has no such passkey.
   */
  remove(identityId: IdentityId, id: AuthenticatorId): Promise<boolean>
  /** The same for all of them. Returns those that were removed. */
  removeAll(identityId: IdentityId): Promise<readonly AuthenticatorId[]>
}

/** Challenges that were answered: each is good for one answer, on every instance (D-435). */
export interface SpentChallenges {
  /** Returns false if it was already spent. */
  insert(challenge: { readonly hash: SecretHash; readonly expiresAt: Instant }): Promise<boolean>
}

/** The recovery codes of an identity, whichever factor it has enrolled. They come with the first pending enrollment. */
export interface RecoveryCodes {
  /** Spends one code of an identity with a verified enrollment, in one statement. */
  take(identityId: IdentityId, code: SecretHash): Promise<boolean>
  count(identityId: IdentityId): Promise<number>
  /** Stores new codes in place of all remaining ones. Does nothing without a verified enrollment. */
  replace(identityId: IdentityId, codes: readonly SecretHash[]): Promise<void>
}

/** Wrong codes in a row for one identity, across all its logins: D-18. */
export interface CodeGuesses {
  /**
   * Counts a guess before it is checked, in one statement, so that a hundred parallel ones count as a hundred. Returns
   * the number of guesses since the last correct one, or until when no guess is accepted.
   */
  take(
    identityId: IdentityId,
    now: Instant,
    blockedUntil: (guesses: number) => Instant | undefined,
  ): Promise<{ readonly guesses: number } | { readonly blockedUntil: Instant }>
  /** Clears the count after a correct code. */
  clear(identityId: IdentityId): Promise<void>
}

/** Where a password was tried: always from a network, and possibly on a known device (D-216). */
export interface GuessOrigin {
  readonly network: string
  readonly device: string | undefined
}

/** When consecutive wrong passwords lock their origin out: D-22. */
export interface LockRule {
  /** The limit for one network or one device; 0 means no limit. */
  readonly maxAttempts: number
  /** The limit for all origins together. */
  readonly ceiling: number
  /** Returns when the lock of a network ends, if it is the `nth` one without a correct password in between. */
  readonly lockUntil: (nth: number) => Instant
  /** How long to remember a network after its last failure or lock, and a device after its last failure. */
  readonly keepNetwork: Duration
  readonly keepDevice: Duration
}

/** Counts consecutive wrong passwords for each network and each known device, and in total: D-22. */
export interface PasswordFailures {
  /** Returns false if too many wrong passwords came from the device since its last correct one. */
  isTrusted(id: AuthenticatorId, device: string): Promise<boolean>
  /**
   * Counts one wrong password; a hundred parallel ones count as a hundred. Returns the end of the lock if this failure
   * locked its network or everything except known devices, otherwise undefined.
   */
  add(
    id: AuthenticatorId,
    origin: GuessOrigin,
    rule: LockRule,
    now: Instant,
  ): Promise<{ readonly lockedUntil: Instant | undefined }>
  /**
   * After a correct password: clears the failures of its origin and the total. Returns false, and changes nothing, if
   * the origin is locked out. A trusted device passes every lock, and leaves the locks of other origins as they are.
   */
  clear(id: AuthenticatorId, origin: GuessOrigin, now: Instant): Promise<boolean>
  /** Deletes at most `limit` rows that expired before `before`, and returns how many it deleted. */
  removeExpired(before: Instant, limit: number): Promise<number>
}
