/**
 * Makes an event out of what happened: who asked, when, and an id of its own. Use cases insert it in the
 * transaction that does what it tells of.
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
