/** /events of the management API: the audit log. API 3.3, 4.8. */
import type { EventId } from '../../base/ids.ts'
import {
  type Event,
  type EventLine,
  EventListReply,
  EventReply,
} from '../../contract/management/events.ts'
import type { RecordedEvent } from '../../domain/audit/recorded-event.ts'
import { EVENT_FIELDS } from '../../domain/lists/fields.ts'
import { orNotFound } from '../../domain/refusals.ts'
import type { Stores } from '../../domain/stores.ts'
import { EVENT } from '../../entities/event.ts'
import { selfLink } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { managedFields } from '../edge-api/described-body.ts'
import { addReads } from './entity-reads.ts'

export function addEvents(api: Api, ports: Pick<Stores, 'events'>): void {
  addReads(api, {
    path: '/events',
    summaries: { list: 'List audit events, the newest first', one: 'Read an audit event' },
    description: 'Filter by `requestId` to find the exact reason of an error.',
    fields: EVENT_FIELDS,
    replies: { one: EventReply, list: EventListReply },
    list: (query) => ports.events.list(query),
    find: async (id: EventId) => orNotFound(await ports.events.find(id)),
    show,
  })
}

function show(event: RecordedEvent): Event {
  return { ...eventLine(event), _links: selfLink(`events/${event.id}`) }
}

/** The audit output writes the same shape (D-134). */
export function eventLine(event: RecordedEvent): EventLine {
  return managedFields(EVENT, event)
}
