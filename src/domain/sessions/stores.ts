import type { ApiSessionId } from '../../base/ids.ts'
import type { Instant } from '../../base/instant.ts'
import type { ApiSession, SessionEnding } from './api-session.ts'

export interface ApiSessions {
  find(id: ApiSessionId): Promise<ApiSession | undefined>
  insert(session: ApiSession): Promise<void>
  remove(id: ApiSessionId): Promise<boolean>
  removeExpired(before: Instant, limit: number): Promise<number>
}

/** The ended sessions, in the order in which they were written. */
export interface SessionEndings {
  /** Ending a session twice is ending it once: false when it was ended before. */
  insert(ending: SessionEnding): Promise<boolean>
  /**
   * The endings with a sequence number above `after`, lowest first. Numbers are given out before the commit,
   * so a lower one can appear after a higher one: whoever follows the list re-reads an overlap.
   */
  listAfter(after: number): Promise<readonly (SessionEnding & { readonly sequence: number })[]>
  removeExpired(before: Instant, limit: number): Promise<number>
}
