import type { IdentityId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
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
