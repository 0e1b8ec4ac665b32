import type { EventId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type { AuditEvent } from './events.ts'
import type { RecordedEvent } from './recorded-event.ts'

export interface Events {
  /** An event with a `fold` key is counted in the row of that key, in one statement; a dropped event is not stored. */
  insert(event: AuditEvent): Promise<void>
  find(id: EventId): Promise<RecordedEvent | undefined>
  /** Newest first, unless the query has another order. API 2. */
  list(query: ListQuery): Promise<PageOf<RecordedEvent>>
  /** Deletes at most `limit` events from before `before`; returns how many. */
  removeOlderThan(before: Instant, limit: number): Promise<number>
}
