/**
 * Why a genuine code or refresh token got no tokens, as an event: so that the request id of the answer, which says
 * nothing more than `invalid_grant`, leads to the reason. D-133, R109.
 *
 * What nobody was ever given is not recorded: strangers could fill the database. Whoever holds a genuine token could
 * too, by showing it again and again, so one session has a few events a minute; the log has the rest.
 */

import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, minutes } from '../../base/time/duration.ts'
import type { Caller, TokenRefusalReason } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Events } from '../audit/stores.ts'

export type RecordRefusal = (refusal: {
  readonly identityId: IdentityId | undefined
  /** Undefined for a code, whose session never began: it can be refused once. */
  readonly sessionId: ApiSessionId | undefined
  readonly reason: TokenRefusalReason
  readonly caller: Caller
}) => Promise<void>

const WINDOW: Duration = minutes(1)
const MOST_IN_WINDOW = 10

/** Sessions that are remembered at the most; the oldest is forgotten first. */
const MOST_SESSIONS = 10_000

export function createRecordRefusal(deps: {
  readonly events: Pick<Events, 'insert'>
  readonly recordEvent: RecordEvent
  readonly clock: Pick<Clock, 'uptime'>
}): RecordRefusal {
  const { events, recordEvent, clock } = deps
  const windows = new Map<ApiSessionId, { readonly begun: Duration; count: number }>()

  function isTooMany(sessionId: ApiSessionId): boolean {
    const now = clock.uptime()
    const window = windows.get(sessionId)
    if (window !== undefined && now - window.begun < WINDOW) {
      window.count += 1
      return window.count > MOST_IN_WINDOW
    }
    windows.delete(sessionId)
    windows.set(sessionId, { begun: now, count: 1 })
    if (windows.size > MOST_SESSIONS) {
      const [oldest] = windows.keys()
      if (oldest !== undefined) windows.delete(oldest)
    }
    return false
  }

  return async ({ identityId, sessionId, reason, caller }) => {
    if (sessionId !== undefined && isTooMany(sessionId)) return
    const refused = { type: 'token.refused', identityId, sessionId, reason } as const
    await events.insert(recordEvent(caller, refused))
  }
}
