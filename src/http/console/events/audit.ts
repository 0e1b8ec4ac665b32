/** /console/audit: the audit log. API 3.3, 4.8. */
import type { EventId } from '../../../base/ids.ts'
import { fromRfc3339, type Instant } from '../../../base/time/instant.ts'
import { EVENT_TYPES } from '../../../domain/audit/event-types.ts'
import { findEvents, type WantedEvents } from '../../../domain/management/finding/find-events.ts'
import { orNotFound } from '../../../domain/refusals.ts'
import {
  type AuditFilter,
  auditPage,
  EXPORT_PATHS,
  eventPage,
} from '../../../web/console/events/audit-page.ts'
import { AUDIT_PATH, auditPath } from '../../../web/console/navigation.ts'
import type { ConsoleCall, ConsoleRoutes } from '../console-route.ts'
import { pageOf, queryText } from '../list-page.ts'
import type { ConsolePorts } from '../ports.ts'
import { CSV, exportEvents, JSON_LINES } from './export-events.ts'
import { shownEvent } from './shown-event.ts'

const TYPES = Object.keys(EVENT_TYPES)

export function addAudit(routes: ConsoleRoutes, ports: ConsolePorts): void {
  routes.show(AUDIT_PATH, async (call) => {
    const filter = filterOf(call)
    const page = pageOf(call)
    const { rows, totalCount } = await findEvents(ports, wantedOf(filter), page)
    return auditPage(call.frame, {
      filter,
      types: TYPES,
      events: rows.map(shownEvent),
      pages: { ...page, total: totalCount, at: (offset) => auditPath({ ...filter, offset }) },
    })
  })

  routes.show(`${AUDIT_PATH}/events/:id`, async ({ frame, head }) => {
    const event = await ports.events.find((head.path['id'] ?? '') as EventId)
    return eventPage(frame, shownEvent(orNotFound(event)))
  })

  routes.answer(EXPORT_PATHS['JSON lines'], async (call) =>
    exportEvents(ports, call.session, wantedOf(filterOf(call)), JSON_LINES),
  )
  routes.answer(EXPORT_PATHS.CSV, async (call) =>
    exportEvents(ports, call.session, wantedOf(filterOf(call)), CSV),
  )
}

function filterOf(call: ConsoleCall): AuditFilter {
  const text = (name: string) => queryText(call, name)
  return {
    person: text('person'),
    actor: text('actor'),
    type: text('type'),
    from: text('from'),
    until: text('until'),
  }
}

function wantedOf({ from, until, ...texts }: AuditFilter): WantedEvents {
  return { ...texts, from: momentOf(from), until: momentOf(until) }
}

/** `2026-11-16T04:44` in UTC, as the form sends it; anything else means no limit. */
function momentOf(text: string): Instant | undefined {
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?)?$/.exec(text)
  if (match === null) return undefined
  const [, day, minutes = '00:00', seconds = ':00'] = match
  return fromRfc3339(`${day}T${minutes}${seconds}Z`)
}
