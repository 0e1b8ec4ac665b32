/**
 * Creates an event: what happened, who called, when, and a new id. Use cases insert it in the transaction of the change
 * that it describes.
 */

import { type EventId, newId } from '../../base/ids.ts'
import type { AuditEvent, Caller, Happening } from './events.ts'
import type { AuditPorts } from './ports.ts'

export function recordEvent(
  { clock, random, foldRepeats }: AuditPorts,
  caller: Caller | undefined,
  happening: Happening,
): AuditEvent {
  const event = { ...happening, id: newId<EventId>(random), at: clock.now(), caller }
  const fold = foldRepeats(event)
  return fold === undefined ? event : { ...event, fold }
}
