import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { EnrollmentOwner, TotpEnrollment } from './totp-enrollment.ts'

/** At most one enrollment for each identity, pending or verified. */
export interface TotpEnrollments {
  find(identityId: IdentityId): Promise<TotpEnrollment | undefined>
  /**
   * Stores a pending enrollment with its recovery codes in the place of one that is pending, also of another owner;
   * false, and nothing changes, when a verified one exists (R090).
   */
  replacePending(enrollment: TotpEnrollment, recoveryCodes: readonly SecretHash[]): Promise<boolean>
  /**
   * Turns this very pending enrollment of this very owner into a verified one, which has no owner any more; of two at
   * once one answers true. False without an owner (D-240).
   */
  markVerified(
    enrollment: Pick<TotpEnrollment, 'id' | 'identityId' | 'owner'>,
    at: Instant,
  ): Promise<boolean>
  /** False when this owner has no pending one. */
  removePending(identityId: IdentityId, owner: EnrollmentOwner): Promise<boolean>
  /** Pending or verified, with its recovery codes. */
  remove(identityId: IdentityId): Promise<boolean>
  /**
   * Burns a time step of the verified enrollment in one statement (R085): true once; false when this step or a later
   * one was accepted before.
   */
  takeStep(identityId: IdentityId, step: number): Promise<boolean>
  /** Spends one recovery code of the verified enrollment in one statement. */
  takeRecoveryCode(identityId: IdentityId, code: SecretHash): Promise<boolean>
  countRecoveryCodes(identityId: IdentityId): Promise<number>
  /** New codes in the place of all that are left. */
  replaceRecoveryCodes(identityId: IdentityId, codes: readonly SecretHash[]): Promise<void>
}

/** Wrong codes in a row for one identity, over any number of logins: D-18. */
export interface CodeGuesses {
  /**
   * Counts a guess before it is judged, in one statement; so a hundred at once count as a hundred. Answers how many
   * stand now without a right one among them, or until when none is taken.
   */
  take(
    identityId: IdentityId,
    now: Instant,
    blockedUntil: (guesses: number) => Instant | undefined,
  ): Promise<{ readonly guesses: number } | { readonly blockedUntil: Instant }>
  /** After a right code. */
  clear(identityId: IdentityId): Promise<void>
}

/** Where a password was tried: always from a network, and perhaps on a device that is known (D-216). */
export interface GuessOrigin {
  readonly network: string
  readonly device: string | undefined
}

/** When wrong passwords in a row shut their origin out: D-22. */
export interface LockRule {
  /** From one network, or on one device; 0: never. */
  readonly maxAttempts: number
  /** From everywhere together. */
  readonly ceiling: number
  /** The end of the lock of a network, the `nth` without a right password in between. */
  readonly lockUntil: (nth: number) => Instant
  /** How long a network is remembered after its last failure or lock, and a device after its last failure. */
  readonly keepNetwork: Duration
  readonly keepDevice: Duration
}

/** Wrong passwords in a row, for each network and each known device that they came from, and altogether: D-22. */
export interface PasswordFailures {
  /** False when too many wrong passwords came from the device since its last right one. */
  isTrusted(id: AuthenticatorId, device: string): Promise<boolean>
  /**
   * Counts one wrong password; a hundred at once count as a hundred. Answers until when this very failure locked its
   * network, or everything but known devices; undefined when it did not lock either of them.
   */
  add(
    id: AuthenticatorId,
    origin: GuessOrigin,
    rule: LockRule,
    now: Instant,
  ): Promise<{ readonly lockedUntil: Instant | undefined }>
  /**
   * After a right password: forgets the failures of its origin and the total. False, and nothing changes, when the
   * origin is shut out. A trusted device passes every lock, and leaves the locks of others as they are.
   */
  clear(id: AuthenticatorId, origin: GuessOrigin, now: Instant): Promise<boolean>
  /** Removes at most `limit` that expired before `before`; answers how many it removed. */
  removeExpired(before: Instant, limit: number): Promise<number>
}
