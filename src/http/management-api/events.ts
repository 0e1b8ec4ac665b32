/** /events of the management API: the audit log. API 3.3, 4.8. */
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
import { found, idIn, listed, selfLink } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { managedFields } from '../edge-api/described-body.ts'

export function addEvents(api: Api, ports: Pick<Stores, 'events'>): void {
  api.add(
    {
      method: 'GET',
      path: '/events',
      access: 'admin',
      summary: 'List audit events, the newest first',
      description: 'Filter by `requestId` to find the exact reason of an error.',
      list: EVENT_FIELDS,
      answers: { 200: EventListReply },
    },
    async ({ list }) => listed(EVENT_FIELDS, list, await ports.events.list(list), show),
  )

  api.add(
    {
      method: 'GET',
      path: '/events/:id',
      access: 'admin',
      summary: 'Read an audit event',
      answers: { 200: EventReply },
    },
    async ({ path }) => found(show(orNotFound(await ports.events.find(idIn(path))))),
  )
}

function show(event: RecordedEvent): Event {
  return { ...eventLine(event), _links: selfLink(`events/${event.id}`) }
}

/** The audit output writes the same shape (D-134). */
export function eventLine(event: RecordedEvent): EventLine {
  return managedFields(EVENT, event)
}
