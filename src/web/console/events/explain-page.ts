/** GET /console/explain: why a request was refused, check by check, with a way to the fix. */
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { EXPLAIN_PATH } from '../navigation.ts'
import { badge, empty, facts, personLink, section, table, time } from '../parts.ts'
import { eventList, eventName, type ShownEvent } from './event-list.ts'

export interface ShownCheck {
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'not-reached'
  readonly expected: string
  readonly received: string | undefined
}

export interface ExplainedRequest {
  readonly event: ShownEvent
  readonly checks: readonly ShownCheck[]
  readonly fix: { readonly path: string; readonly label: string } | undefined
}

export interface ExplainPage {
  /** Empty before a request is asked for. */
  readonly requestId: string
  readonly explained: readonly ExplainedRequest[]
  /** The newest refusals, for those who do not have the id. */
  readonly latest: readonly ShownEvent[]
}

export function explainPage(frame: ConsoleFrame, page: ExplainPage): SafeHtml {
  const { requestId, explained, latest } = page
  return consoleLayout(frame, {
    section: EXPLAIN_PATH,
    title: 'Why was it refused?',
    content: html`<form class="filters" role="search" aria-label="Explain a request" method="get" action="${EXPLAIN_PATH}">
<div class="grow"><label for="request">Request ID, from the error page or the header x-request-id</label>
<input id="request" name="request" type="search" value="${requestId}" maxlength="256" autocomplete="off" spellcheck="false"></div>
<button type="submit">Explain</button>
</form>
${requestId !== '' && answer(page)}
${explained.map(explanation)}${section(
  'Latest refusals',
  latest.length === 0
    ? empty('Nothing was refused', 'Failed sign-ins, tokens and enrollments appear here.')
    : eventList(latest),
)}`,
  })
}

function answer({ explained }: ExplainPage): SafeHtml | undefined {
  if (explained.length > 0) return undefined
  return empty(
    'No event has this request ID',
    'Calls that succeed, bodies that are not valid and wrong tokens leave no event, and a failure that repeats is counted in the event of the first one. The log of the service has a line with this ID.',
  )
}

const OUTCOMES = {
  passed: badge('good', 'Passed'),
  failed: badge('bad', 'Failed'),
  'not-reached': badge('quiet', 'Not reached'),
} as const

function explanation({ event, checks, fix }: ExplainedRequest): SafeHtml {
  const { identity, actor, address, userAgent, type, at, count, details } = event
  return section(
    event.sentence || type,
    html`${facts([
      ['When', time(at)],
      ['Times in that minute', count > 1 ? String(count) : undefined],
      ['Event', html`<code>${eventName(event)}</code>`],
      ['Identity', identity && personLink(identity)],
      ['Done by', actor && actor.id !== identity?.id && personLink(actor)],
      ['From', address && html`<code>${address}</code>`],
      ['With', userAgent && html`<bdi>${userAgent}</bdi>`],
      ...details.map(([name, value]) => [name, html`<bdi>${value}</bdi>`] as const),
    ])}
${
  checks.length > 0 &&
  html`<h3 class="apart">Checks, in their order</h3>
${table(
  'Checks',
  [
    { title: 'Check', cell: ({ name }) => name },
    { title: 'Result', cell: ({ outcome }) => OUTCOMES[outcome] },
    { title: 'Expected', cell: ({ expected }) => expected },
    {
      title: 'Received',
      look: 'wide',
      cell: ({ received }) => html`<bdi>${received ?? '–'}</bdi>`,
    },
  ],
  checks,
)}`
}${fix !== undefined && html`<p><a class="button" href="${fix.path}">${fix.label}</a></p>`}`,
  )
}
