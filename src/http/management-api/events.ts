/** /events of the management API: the audit log. API 3.3, 4.8. */
import type { EventId } from '../../base/ids.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import type { Event, EventLine } from '../../contract/management/events.ts'
import type { ReadEvents } from '../../domain/audit/read-events.ts'
import type { RecordedEvent } from '../../domain/audit/recorded-event.ts'
import { EVENT_FIELDS } from '../../domain/lists/fields.ts'
import { found, idIn, listed } from '../edge-api/answers.ts'
import { selfLink } from '../edge-api/links.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { READ } from './route-defaults.ts'

export function addEvents(
  router: Router,
  prefix: string,
  { read }: { readonly read: ReadEvents },
): void {
  const all = `${prefix}/events`

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, EVENT_FIELDS)
    return listed(EVENT_FIELDS, asked, await read.list(asked), show)
  })

  router.add({ ...READ, url: `${all}/:id` }, async ({ path }) =>
    found(show(await read.find(idIn<EventId>(path)))),
  )
}

function show(event: RecordedEvent): Event {
  return { ...eventLine(event), _links: selfLink(`events/${event.id}`) }
}

/** Also what the audit output writes (D-134). */
export function eventLine(event: RecordedEvent): EventLine {
  return {
    id: event.id,
    at: toRfc3339(event.at),
    type: event.type,
    identityId: event.identityId ?? null,
    sessionId: event.sessionId ?? null,
    actorId: event.actorId ?? null,
    address: event.address ?? null,
    requestId: event.requestId ?? null,
    userAgent: event.userAgent ?? null,
    reason: event.reason ?? null,
    details: event.details ?? null,
    count: event.count,
  }
}
