import type { EnrollmentId, IdentityId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type { Enrollment, EnrollmentMethod } from './enrollment.ts'

/** The enrollment of this method that a token opens, or why it opens none. */
export type OpenedBy<Method extends EnrollmentMethod> =
  | {
      readonly state: 'open'
      readonly enrollment: Extract<Enrollment, { readonly method: Method }>
    }
  | { readonly state: 'expired' | 'used'; readonly identityId: IdentityId }
  | { readonly state: 'unknown' }

export interface Enrollments {
  find(id: EnrollmentId): Promise<Enrollment | undefined>
  /** Looks and spends nothing. A token of another method is unknown. */
  findByToken<Method extends EnrollmentMethod>(
    tokenHash: SecretHash,
    method: Method,
    now: Instant,
  ): Promise<OpenedBy<Method>>
  /** Used and expired ones too; oldest first. */
  listOf(identityId: IdentityId): Promise<readonly Enrollment[]>
  /** Those of all the given identities that were not used, expired ones too, in one query: one of each method at most. */
  listUnusedOfMany(identityIds: readonly IdentityId[]): Promise<readonly Enrollment[]>
  /** By `ENROLLMENT_FIELDS`; oldest first, unless another order is asked for. */
  list(query: ListQuery): Promise<PageOf<Enrollment>>
  /** What is in the way: one of that method that was not used, or somebody else's unused one for the username. */
  insert(enrollment: Enrollment): Promise<'inserted' | 'method-open' | 'username-in-use'>
  /** Removes what would be in the way of `insert` and has expired; answers what that was. */
  removeExpiredLike(
    enrollment: Enrollment,
    now: Instant,
  ): Promise<readonly Pick<Enrollment, 'id' | 'identityId'>[]>
  /** Another token and end for one that was not used; from then on the old token is unknown. */
  replaceToken(
    id: EnrollmentId,
    next: Pick<Enrollment, 'tokenHash' | 'expiresAt'>,
    at: Instant,
  ): Promise<boolean>
  /** Spends it in one statement: of several at once, one gets it, and the others hear `used`. */
  take<Method extends EnrollmentMethod>(
    tokenHash: SecretHash,
    method: Method,
    now: Instant,
  ): Promise<OpenedBy<Method>>
  remove(id: EnrollmentId): Promise<boolean>
  /** Removes at most `limit` that ended before `before`, used or not; answers how many. */
  removeExpired(before: Instant, limit: number): Promise<number>
}
