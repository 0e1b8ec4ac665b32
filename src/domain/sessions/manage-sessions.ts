/**
 * The registry of API sessions, for administrators: both kinds listed and ended alike. API 3.3, 4.7; D-34, R051. Never
 * a token.
 */

import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import type { Clock } from '../../base/time/clock.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { Identities } from '../identities/stores.ts'
import type { ListQuery } from '../lists/list-query.ts'
import { BATCH_ROWS, type PageOf } from '../paging.ts'
import type { Transaction } from '../stores.ts'
import type { EndSessionsWithin } from './ending/end-session.ts'
import type { DescribeSessions, SessionDetail } from './session-detail.ts'
import type { ApiSessions } from './stores.ts'

export interface ManageSessions {
  /** Live ones, newest first unless another order is asked for. */
  list(query: ListQuery): Promise<PageOf<SessionDetail>>
  listOf(identityId: IdentityId, query: ListQuery): Promise<PageOf<SessionDetail>>
  /** Thrown: NOT_FOUND. */
  find(id: ApiSessionId): Promise<SessionDetail>
  end(id: ApiSessionId, caller: Caller): Promise<void>
  /** Unfinished logins end with them. */
  endAllOf(identityId: IdentityId, caller: Caller): Promise<void>
  /** The same for every identity, including the caller's own. */
  endAll(caller: Caller): Promise<void>
}

export function createManageSessions(deps: {
  readonly apiSessions: Pick<ApiSessions, 'find' | 'list'>
  readonly identities: Pick<Identities, 'find'>
  readonly describeSessions: DescribeSessions
  readonly endSessionsWithin: EndSessionsWithin
  readonly transaction: Transaction
  readonly clock: Clock
}): ManageSessions {
  const { apiSessions, identities, describeSessions, endSessionsWithin, transaction, clock } = deps

  async function listSessions(
    of: IdentityId | undefined,
    query: ListQuery,
  ): Promise<PageOf<SessionDetail>> {
    const { rows, totalCount } = await apiSessions.list({ of, at: clock.now() }, query)
    return { rows: await describeSessions(rows), totalCount }
  }

  /**
   * Ends all sessions that existed at the start. Logins in progress are voided first (D-226): each has begun its
   * session by then, or never will.
   */
  async function endMany(of: IdentityId | undefined, caller: Caller): Promise<void> {
    if (of === undefined) await voidAllLogins()
    else await transaction((tx) => tx.identities.voidLogins(of))
    const at = clock.now()
    for (let isMore = true; isMore; ) {
      const feelEnds = await transaction(async (tx) => {
        const { rows } = await tx.apiSessions.list({ of, at, createdUntil: at }, FIRST_BATCH)
        isMore = rows.length === BATCH_ROWS
        return endSessionsWithin(tx, { sessions: rows }, 'administrator', caller)
      })
      feelEnds()
    }
  }

  /** Administrators one at a time: other code locks several of them at once, in its own order (D-49). */
  async function voidAllLogins(): Promise<void> {
    for (const which of [
      { isAdmin: true, limit: 1 },
      { isAdmin: false, limit: BATCH_ROWS },
    ]) {
      let last: IdentityId | undefined
      do {
        last = await transaction((tx) => tx.identities.voidLoginsAfter(last, which))
      } while (last !== undefined)
    }
  }

  async function findIdentity(id: IdentityId): Promise<void> {
    if ((await identities.find(id)) === undefined) throw new Failure('NOT_FOUND')
  }

  return {
    list: (query) => listSessions(undefined, query),

    async listOf(identityId, query) {
      await findIdentity(identityId)
      return listSessions(identityId, query)
    },

    async find(id) {
      const session = await apiSessions.find(id)
      const isLive = session !== undefined && session.expiresAt > clock.now()
      const [detail] = isLive ? await describeSessions([session]) : []
      if (detail === undefined) throw new Failure('NOT_FOUND')
      return detail
    },

    async end(id, caller) {
      const feelEnds = await transaction(async (tx) => {
        const session = await tx.apiSessions.find(id)
        if (session === undefined) throw new Failure('NOT_FOUND')
        return endSessionsWithin(tx, { sessions: [session] }, 'administrator', caller)
      })
      feelEnds()
    },

    async endAllOf(identityId, caller) {
      await findIdentity(identityId)
      await endMany(identityId, caller)
    },

    endAll: (caller) => endMany(undefined, caller),
  }
}

const FIRST_BATCH: ListQuery = { limit: BATCH_ROWS, offset: 0 }
