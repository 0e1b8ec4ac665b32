/** Events of every type in one form. */
import type { EVENT } from '../../entities/event.ts'
import type { EntityOf } from '../../entities/field.ts'
import type { AuditEvent } from './events.ts'

export type RecordedEvent = EntityOf<typeof EVENT>
export type EventNames = Pick<RecordedEvent, 'identityName' | 'actorName'>

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
