import type { EnrollmentId, IdentityId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type { Enrollment, EnrollmentMethod } from './enrollment.ts'

/** The enrollment of this method that the token belongs to, or why there is none. */
export type OpenedBy<Method extends EnrollmentMethod> =
  | {
      readonly state: 'open'
      readonly enrollment: Extract<Enrollment, { readonly method: Method }>
    }
  | { readonly state: 'expired' | 'used'; readonly identityId: IdentityId }
  | { readonly state: 'unknown' }

export interface Enrollments {
  find(id: EnrollmentId): Promise<Enrollment | undefined>
  /** Finds an enrollment without spending it. A token of another method is unknown; undefined: of any method. */
  findByToken<Method extends EnrollmentMethod>(
    tokenHash: SecretHash,
    method: Method | undefined,
    now: Instant,
  ): Promise<OpenedBy<Method>>
  /** Including used and expired ones; oldest first. */
  listOf(identityId: IdentityId): Promise<readonly Enrollment[]>
  /** Unused ones of all the given identities, including expired ones, in one query: at most one of each method. */
  listUnusedOfMany(identityIds: readonly IdentityId[]): Promise<readonly Enrollment[]>
  /** By `ENROLLMENT_FIELDS`; oldest first, unless another order is asked for. */
  list(query: ListQuery): Promise<PageOf<Enrollment>>
  /** Returns the conflict: an unused one of that method, or another identity's unused one for the username. */
  insert(enrollment: Enrollment): Promise<'inserted' | 'method-open' | 'username-in-use'>
  /** Deletes expired enrollments that would conflict with `insert`, and returns them. */
  removeExpiredLike(
    enrollment: Enrollment,
    now: Instant,
  ): Promise<readonly Pick<Enrollment, 'id' | 'identityId'>[]>
  /** Deletes the unused one of this method, expired or not; returns the ids. */
  removeUnused(identityId: IdentityId, method: EnrollmentMethod): Promise<readonly EnrollmentId[]>
  /** Replaces token and expiry of an unused enrollment; from then on the old token is unknown. */
  replaceToken(
    id: EnrollmentId,
    next: Pick<Enrollment, 'tokenHash' | 'expiresAt' | 'sealedJwt'>,
    at: Instant,
  ): Promise<boolean>
  /** Spends it in one statement: of several concurrent calls, one succeeds and the others get `used`. */
  take<Method extends EnrollmentMethod>(
    tokenHash: SecretHash,
    method: Method,
    now: Instant,
  ): Promise<OpenedBy<Method>>
  remove(id: EnrollmentId): Promise<boolean>
  /** Deletes at most `limit` that ended before `before`, used or not; returns how many. */
  removeExpired(before: Instant, limit: number): Promise<number>
}
