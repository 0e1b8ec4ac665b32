/**
 * Records events for the audit log, each in the transaction of the change that it describes. A refusal that changes
 * nothing else needs none.
 */
import { type EventId, newId } from '../../base/ids.ts'
import type { AuditEvent, Caller, Happening } from './events.ts'
import type { AuditPorts } from './ports.ts'
import type { Events } from './stores.ts'

export async function record(
  ports: AuditPorts,
  { events }: { readonly events: Pick<Events, 'insert'> },
  caller: Caller | undefined,
  happening: Happening,
): Promise<void> {
  await events.insert(recordEvent(ports, caller, happening))
}

/** Creates an event, for a caller that inserts it elsewhere: what happened, who called, when, and a new id. */
export function recordEvent(
  { clock, random, foldRepeats }: AuditPorts,
  caller: Caller | undefined,
  happening: Happening,
): AuditEvent {
  const event = { ...happening, id: newId<EventId>(random), at: clock.now(), caller }
  const fold = foldRepeats(event)
  return fold === undefined ? event : { ...event, fold }
}
