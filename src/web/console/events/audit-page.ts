/** GET /console/audit: the audit log, by person, actor, type and time; with a live tail and downloads. */
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { AUDIT_PATH, explainPath, STREAM_PATH, sessionPath, withQuery } from '../navigation.ts'
import {
  empty,
  facts,
  type Pages,
  pager,
  personLink,
  plural,
  searchField,
  section,
  time,
} from '../parts.ts'
import { eventList, eventName, type ShownEvent } from './event-list.ts'

export const EXPORT_PATHS = {
  'JSON lines': `${AUDIT_PATH}/export.jsonl`,
  CSV: `${AUDIT_PATH}/export.csv`,
} as const

export interface AuditFilter {
  readonly person: string
  readonly actor: string
  readonly type: string
  /** As the fields of the form have them: a date, or a date and time, in UTC. */
  readonly from: string
  readonly until: string
}

export interface AuditPage {
  readonly filter: AuditFilter
  readonly types: readonly string[]
  readonly events: readonly ShownEvent[]
  readonly pages: Pages
}

export function auditPage(frame: ConsoleFrame, page: AuditPage): SafeHtml {
  const { filter, types, events, pages } = page
  const groups = [...new Set(types.map((type) => type.split('.')[0] ?? ''))]
  const option = (value: string) =>
    html`<option value="${value}"${value === filter.type && html` selected`}>${value}</option>`
  // Older pages do not change.
  const live =
    pages.offset === 0 &&
    html` data-live hx-get="${frame.here}" hx-trigger="refresh" hx-select="#list" hx-swap="outerHTML"`
  return consoleLayout(frame, {
    section: AUDIT_PATH,
    title: 'Audit',
    lead: html`<p class="lead"${pages.offset === 0 && html` data-stream="${STREAM_PATH}"`}><span data-stream-state role="status"></span></p>`,
    content: html`<form class="filters" role="search" aria-label="Filter events" method="get" action="${AUDIT_PATH}">
${searchField('person', 'About (name or ID)', filter.person)}
${searchField('actor', 'Done by (name or ID)', filter.actor)}
<div><label for="type">Type</label>
<select id="type" name="type"><option value="">All</option>
<optgroup label="Groups">${groups.map(option)}</optgroup>
<optgroup label="Types">${types.map(option)}</optgroup></select></div>
${moment('from', 'From (UTC)', filter.from)}
${moment('until', 'Until (UTC)', filter.until)}
<button class="quiet" type="submit">Filter</button>
</form>
<div id="list"${live}>
<p class="lead">${plural(pages.total, 'event')} &middot; Download as ${Object.entries(
      EXPORT_PATHS,
    ).map(
      ([name, path], i) =>
        html`${i === 0 ? '' : ' or '}<a href="${withQuery(path, { ...filter })}" download>${name}</a>`,
    )}</p>
${
  events.length === 0
    ? empty(
        'No event matches',
        'Remove a filter, or choose an earlier time. Names are those of the time of the event, also of identities that are deleted.',
      )
    : html`<div class="card">${eventList(events)}</div>`
}
${pager(pages)}
</div>`,
  })
}

function moment(name: string, label: string, value: string): SafeHtml {
  return html`<div class="moment"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="datetime-local" value="${value}"></div>`
}

/** GET /console/audit/events/:id: everything that an event has. */
export function eventPage(frame: ConsoleFrame, event: ShownEvent): SafeHtml {
  const { id, at, type, sentence, identity, actor, address, requestId } = event
  const { sessionId, userAgent, count, details } = event
  return consoleLayout(frame, {
    section: AUDIT_PATH,
    title: eventName(event),
    content: section(
      sentence || type,
      facts([
        ['When', time(at)],
        ['Times in that minute', count > 1 ? String(count) : undefined],
        ['About', identity && personLink(identity)],
        ['Done by', actor && personLink(actor)],
        ['From', address && html`<code>${address}</code>`],
        ['With', userAgent && html`<bdi>${userAgent}</bdi>`],
        [
          'Session',
          sessionId && html`<a href="${sessionPath(sessionId)}"><code>${sessionId}</code></a>`,
        ],
        [
          'Request',
          requestId && html`<a href="${explainPath(requestId)}"><code>${requestId}</code></a>`,
        ],
        ...details.map(([name, value]) => [name, html`<bdi>${value}</bdi>`] as const),
        ['ID', html`<code>${id}</code>`],
      ]),
    ),
  })
}
