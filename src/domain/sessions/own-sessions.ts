/**
 * A person's own API sessions, of both kinds: seen, and ended one by one or all but the one that asks. R051 for
 * administrators, this for everybody else (D-163). Never a token.
 */

import type { ApiSessionId } from '../../base/ids.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Caller } from '../audit/events.ts'
import { BATCH_ROWS, type PageOf } from '../paging.ts'
import { notFound } from '../refusals.ts'
import type { Transaction } from '../stores.ts'
import type { ApiSession } from './api-session.ts'
import { type CallSession, sessionGone } from './call-session.ts'
import type { EndSessionsWithin } from './ending/end-session.ts'
import type { ApiSessions } from './stores.ts'

export interface OwnSessions {
  /** Live ones, newest first, so many at most. */
  list(call: CallSession, limit: number): Promise<PageOf<ApiSession>>
  /** Thrown: NOT_FOUND for one that is somebody else's or gone. */
  end(call: CallSession, id: ApiSessionId, caller: Caller): Promise<void>
  /** Ends all current sessions and logins in progress, except the session of the call. */
  endOthers(call: CallSession, caller: Caller): Promise<void>
}

export function createOwnSessions(deps: {
  readonly brand: string
  readonly apiSessions: Pick<ApiSessions, 'list'>
  readonly transaction: Transaction
  readonly endSessionsWithin: EndSessionsWithin
  readonly clock: Clock
}): OwnSessions {
  const { brand, apiSessions, transaction, endSessionsWithin, clock } = deps

  return {
    list: ({ identityId: of }, limit) =>
      apiSessions.list({ of, at: clock.now() }, { limit, offset: 0 }),

    async end(call, id, caller) {
      const feelEnds = await transaction(async (tx) => {
        // Who has just been put out ends nobody else's.
        if ((await tx.apiSessions.find(call.sessionId)) === undefined)
          throw sessionGone(brand, call)
        const session = await tx.apiSessions.find(id)
        if (session?.identityId !== call.identityId) throw notFound()
        return endSessionsWithin(tx, { sessions: [session] }, 'holder', caller)
      })
      feelEnds()
    },

    async endOthers(call, caller) {
      const { identityId: of, sessionId } = call
      // First, so that a login in progress has begun its session by now, or never will (D-226).
      await transaction(async (tx) => {
        if ((await tx.apiSessions.find(sessionId)) === undefined) throw sessionGone(brand, call)
        await tx.identities.voidLogins(of)
      })
      const at = clock.now()
      for (let isMore = true; isMore; ) {
        const feelEnds = await transaction(async (tx) => {
          if ((await tx.apiSessions.find(sessionId)) === undefined) throw sessionGone(brand, call)
          const query = { limit: BATCH_ROWS, offset: 0 }
          const { rows } = await tx.apiSessions.list({ of, at, createdUntil: at }, query)
          isMore = rows.length === BATCH_ROWS
          const sessions = rows.filter(({ id }) => id !== sessionId)
          return endSessionsWithin(tx, { sessions }, 'holder', caller)
        })
        feelEnds()
      }
    },
  }
}
