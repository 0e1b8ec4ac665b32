/**
 * Makes an event out of what happened: who asked, when, and an id of its own. Use cases insert it in the
 * transaction that does what it tells of.
 */

import { type EventId, newId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { AuditEvent, Caller, Happening } from './events.ts'
import { createFoldRepeats } from './fold-repeats.ts'

export type RecordEvent = (caller: Caller | undefined, happening: Happening) => AuditEvent

export function createRecordEvent(deps: {
  readonly clock: Clock
  readonly random: Random
}): RecordEvent {
  const { clock, random } = deps
  const foldRepeats = createFoldRepeats({ clock })
  return (caller, happening) => {
    const event = { ...happening, id: newId<EventId>(random), at: clock.now(), caller }
    const fold = foldRepeats(event)
    return fold === undefined ? event : { ...event, fold }
  }
}
