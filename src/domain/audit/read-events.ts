/** The audit log, for administrators: API 3.3, 4.8. */
import type { EventId } from '../../base/ids.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import { orNotFound } from '../refusals.ts'
import type { RecordedEvent } from './recorded-event.ts'
import type { Events } from './stores.ts'

interface ReadPorts {
  readonly events: Pick<Events, 'find' | 'list'>
}

/** Returns the newest first, unless the query asks for another order. */
export function listEvents(
  { events }: ReadPorts,
  query: ListQuery,
): Promise<PageOf<RecordedEvent>> {
  return events.list(query)
}

/** Throws NOT_FOUND. */
export async function findEvent({ events }: ReadPorts, id: EventId): Promise<RecordedEvent> {
  return orNotFound(await events.find(id))
}
