/**
 * A recorded event: the same members for every type, as in the store, in the management API and in the audit output.
 * API 4.8.
 */
import type { ApiSessionId, EventId, IdentityId, RequestId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { AuditEvent } from './events.ts'

/** The names of an event's identity and actor at the time, as far as they existed (D-350). */
export interface EventNames {
  readonly identityName: string | undefined
  readonly actorName: string | undefined
}

export interface RecordedEvent extends EventNames {
  readonly id: EventId
  readonly at: Instant
  /** An older version may have written types that this version does not know. */
  readonly type: string
  readonly identityId: IdentityId | undefined
  readonly sessionId: ApiSessionId | undefined
  readonly actorId: IdentityId | undefined
  readonly address: string | undefined
  readonly requestId: RequestId | undefined
  readonly userAgent: string | undefined
  readonly reason: string | undefined
  /** The members specific to this type. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** How often it happened within its minute; the other fields are those of the first occurrence (D-207). */
  readonly count: number
}

export function recorded(event: AuditEvent, names: EventNames): RecordedEvent {
  const { id, at, type, caller } = event
  return {
    id,
    at,
    type,
    identityId: 'identityId' in event ? event.identityId : undefined,
    identityName: names.identityName,
    sessionId: 'sessionId' in event ? event.sessionId : undefined,
    actorId: caller?.actorId,
    actorName: names.actorName,
    address: caller?.address,
    requestId: caller?.requestId,
    userAgent: caller?.userAgent,
    reason: 'reason' in event ? event.reason : undefined,
    details: 'details' in event ? event.details : undefined,
    count: 1,
  }
}
