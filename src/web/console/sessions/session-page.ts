/** GET /console/sessions/:id: one session, live or ended, with everything that is recorded about it. */
import { html, type SafeHtml } from '../../login/html.ts'
import { eventList, type ShownEvent } from '../events/event-list.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { identityPath, SESSIONS_PATH } from '../navigation.ts'
import { badge, dangerous, empty, facts, section, time } from '../parts.ts'
import { programName } from '../program-name.ts'
import type { ListedSession } from './session-table.ts'
import { END_SESSIONS_PATH } from './sessions-page.ts'

export interface SessionPage {
  readonly id: string
  /** Undefined if it has ended. */
  readonly live: ListedSession | undefined
  readonly events: readonly ShownEvent[]
}

export function sessionPage(frame: ConsoleFrame, { id, live, events }: SessionPage): SafeHtml {
  return consoleLayout(frame, {
    section: SESSIONS_PATH,
    title: live === undefined ? 'Session' : `Session of ${live.identityName}`,
    lead: live === undefined ? badge('quiet', 'Ended') : badge('good', 'Live'),
    content: html`${live === undefined ? undefined : confirmFirst(frame)}${section('About', about(id, live))}${
      live === undefined
        ? undefined
        : section(
            'Change',
            dangerous(frame, {
              path: END_SESSIONS_PATH,
              label: 'End this session',
              consequence: `Ends it at once, on every router too. ${live.identityName} can sign in again.`,
              fields: html`<input type="hidden" name="session" value="${id}">`,
            }),
          )
    }${section(
      'Timeline',
      events.length === 0
        ? empty('No events', 'They are older than the audit log keeps them.')
        : eventList(events),
    )}`,
  })
}

function about(id: string, live: ListedSession | undefined): SafeHtml {
  const shown =
    live &&
    ([
      [
        'Identity',
        html`<a href="${identityPath(live.identityId)}"><bdi>${live.identityName}</bdi></a>`,
      ],
      ['Program', html`<bdi>${programName(live.userAgent)}</bdi>`],
      ['User agent', live.userAgent && html`<bdi>${live.userAgent}</bdi>`],
      ['Address', html`<code>${live.address}</code>`],
      ['Client', live.clientId && html`<bdi>${live.clientId}</bdi>`],
      ['Proven by', live.amr.join(', ')],
      ['Began', time(live.createdAt)],
      ['Ends', time(live.expiresAt)],
    ] as const)
  return facts([...(shown ?? []), ['ID', html`<code>${id}</code>`]])
}
