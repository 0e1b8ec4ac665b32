/**
 * Ends an API session before its time. Whatever ends it, everything ends: D-34. On this instance at once, on
 * every other within a second.
 */
import type { Clock } from '../../base/clock.ts'
import type { Duration } from '../../base/duration.ts'
import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import { type Instant, plus } from '../../base/instant.ts'
import type { Caller, SessionEndReason } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Transaction } from '../stores.ts'
import type { SessionEnding } from './api-session.ts'
import type { EndedSessions } from './ended-sessions.ts'

export type EndSession = (end: {
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId
  readonly reason: SessionEndReason
  readonly caller: Caller
}) => Promise<void>

export function createEndSession(deps: {
  readonly clock: Clock
  readonly transaction: Transaction
  readonly endedSessions: Pick<EndedSessions, 'add'>
  readonly recordEvent: RecordEvent
  /** No token that is signed from now on lives longer than this. */
  readonly accessTokenLife: Duration
}): EndSession {
  const { clock, transaction, endedSessions, recordEvent, accessTokenLife } = deps

  return async ({ sessionId, identityId, reason, caller }) => {
    const now = clock.now()
    const ended = recordEvent(caller, { type: 'session.ended', identityId, sessionId, reason })
    const ending = await transaction(async (tx) => {
      const session = await tx.apiSessions.find(sessionId)
      const keepUntil = latest(plus(now, accessTokenLife), session?.expiresAt)
      await tx.apiSessions.remove(sessionId)
      // The ending stands also where no session was found: its insert may still be under way.
      const ending: SessionEnding = { sessionId, at: now, keepUntil }
      const isFirst = await tx.sessionEndings.insert(ending)
      if (isFirst) await tx.events.insert(ended)
      return ending
    })
    endedSessions.add(ending)
  }
}

/** A session that began under a longer configured life, here or on another instance, has longer tokens. */
function latest(end: Instant, sessionEnd: Instant | undefined): Instant {
  return sessionEnd !== undefined && sessionEnd > end ? sessionEnd : end
}
