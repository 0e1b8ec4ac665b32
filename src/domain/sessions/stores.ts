import type { ApiSessionId, AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type { ApiSession, EndedSubject, LegacySession, SessionEnding } from './api-session.ts'

export interface ApiSessions {
  find(id: ApiSessionId): Promise<ApiSession | undefined>
  /** Reads the session and locks its row until the transaction ends, so that the session cannot end meanwhile. */
  hold(id: ApiSessionId): Promise<ApiSession | undefined>
  /** Locks those that exist, in the order of their ids, so that no two transactions wait for each other (D-485). */
  holdAll(ids: readonly ApiSessionId[]): Promise<void>
  /** Finds it by the hash of its `zt-session` token. */
  findLegacy(tokenHash: SecretHash): Promise<LegacySession | undefined>
  listOf(identityId: IdentityId): Promise<readonly ApiSession[]>
  /** Which of the given identities have a session that has not expired by `at`, in one query. */
  listHoldersOfLive(
    identityIds: readonly IdentityId[],
    at: Instant,
  ): Promise<ReadonlySet<IdentityId>>
  /** Lists those that have not expired by `at`, by `API_SESSION_FIELDS`; newest first by default. */
  list(
    which: {
      readonly of: IdentityId | undefined
      readonly at: Instant
      /** Only those that had begun by then. */
      readonly createdUntil?: Instant
    },
    query: ListQuery,
  ): Promise<PageOf<ApiSession>>
  /** How many of each kind have not expired by `at`. */
  countLive(at: Instant): Promise<Readonly<Record<ApiSession['kind'], number>>>
  /** Those whose login was proven by this authenticator. */
  listByAuthenticator(id: AuthenticatorId): Promise<readonly ApiSession[]>
  insert(session: ApiSession): Promise<void>
  /** Renews the idle end after a call (D-36); does nothing if the session has ended meanwhile. */
  renewLegacy(id: ApiSessionId, lastActivityAt: Instant, expiresAt: Instant): Promise<void>
  /** Writes the proven second factors and the `amr` of a locked session. Returns false if it has ended. */
  replaceProven(session: LegacySession): Promise<boolean>
  /** Returns the session as it was when it was deleted; undefined if there was none. */
  remove(id: ApiSessionId): Promise<ApiSession | undefined>
  /** When the next session expires, or the first of those that have; undefined if there is no session. */
  firstExpiry(): Promise<Instant | undefined>
  /** Deletes and returns at most `limit` that have expired by `by`. Parallel instances never get the same session. */
  takeExpired(by: Instant, limit: number): Promise<readonly ApiSession[]>
}

/** The ended sessions, in the order of their sequence numbers. */
export interface SessionEndings {
  /** Idempotent: returns its sequence number, or undefined if the session was already ended. */
  insert(ending: SessionEnding): Promise<number | undefined>
  find(subject: EndedSubject): Promise<(SessionEnding & { readonly sequence: number }) | undefined>
  /**
   * Returns the endings with a sequence number above `after`, lowest first. Numbers are assigned before the commit, so
   * a lower one can appear after a higher one: readers must re-read an overlap.
   */
  listAfter(after: number): Promise<readonly (SessionEnding & { readonly sequence: number })[]>
  removeExpired(before: Instant, limit: number): Promise<number>
}
