/** The audit log, for administrators: API 3.3, 4.8. */
import type { EventId } from '../../base/ids.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import { notFound } from '../refusals.ts'
import type { RecordedEvent } from './recorded-event.ts'
import type { Events } from './stores.ts'

export interface ReadEvents {
  /** Newest first, unless another order is asked for. */
  list(query: ListQuery): Promise<PageOf<RecordedEvent>>
  /** Thrown: NOT_FOUND. */
  find(id: EventId): Promise<RecordedEvent>
}

export function createReadEvents(deps: {
  readonly events: Pick<Events, 'find' | 'list'>
}): ReadEvents {
  const { events } = deps
  return {
    list: (query) => events.list(query),

    async find(id) {
      const event = await events.find(id)
      if (event === undefined) throw notFound()
      return event
    },
  }
}
