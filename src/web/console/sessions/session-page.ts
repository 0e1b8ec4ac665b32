/**
 * GET /console/sessions/:id: one session, live or ended: what happened to it, which routers admitted it, and who has
 * confirmed its end.
 */
import type { Instant } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { eventList, type ShownEvent } from '../events/event-list.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { SESSIONS_PATH } from '../navigation.ts'
import {
  badge,
  dangerous,
  empty,
  facts,
  personLink,
  type ShownPerson,
  section,
  table,
  time,
} from '../parts.ts'
import { programName } from '../program-name.ts'
import { proofName } from '../proof-name.ts'
import type { ListedSession } from './session-table.ts'
import { END_SESSIONS_PATH } from './sessions-page.ts'

export interface SessionPage {
  readonly id: string
  readonly identity: ShownPerson | undefined
  /** Undefined if it has ended. */
  readonly live: Omit<ListedSession, 'identityId' | 'identityName' | 'isPartial'> | undefined
  /** The newest first. */
  readonly events: readonly ShownEvent[]
  /** How many older ones are left out. */
  readonly omitted: number
  readonly contacts: readonly ShownContact[]
  readonly end: ShownEnd | undefined
}

export interface ShownContact {
  readonly router: ShownPerson
  readonly firstAt: Instant
  readonly lastAt: Instant
}

export interface ShownEnd {
  readonly outcome: 'confirmed' | 'elapsed' | 'pending'
  readonly certainAt: Instant
  readonly parties: readonly ShownParty[]
}

/** A router or an instance. */
export interface ShownParty {
  readonly name: string
  readonly kind: 'Router' | 'Instance'
  readonly state: 'confirmed' | 'waiting' | 'cut-off' | 'does-not-confirm'
  readonly confirmedAt: Instant | undefined
  /** By then it refuses by itself; undefined if it has confirmed. */
  readonly refusesAt: Instant | undefined
}

export function sessionPage(frame: ConsoleFrame, page: SessionPage): SafeHtml {
  const { id, identity, live, events, omitted, contacts, end } = page
  const name = identity?.name ?? 'the identity'
  return consoleLayout(frame, {
    section: SESSIONS_PATH,
    title: identity?.name === undefined ? 'Session' : `Session of ${identity.name}`,
    lead: live === undefined ? badge('quiet', 'Ended') : badge('good', 'Live'),
    content: html`${live !== undefined && confirmFirst(frame)}${section('About', about(page))}${
      live !== undefined &&
      section(
        'Change',
        dangerous(frame, {
          path: END_SESSIONS_PATH,
          label: 'End this session',
          consequence: `Ends it at once, on every router too. ${name} can sign in again.`,
          fields: html`<input type="hidden" name="session" value="${id}">`,
        }),
      )
    }${end !== undefined && confirmations(frame, end)}${
      contacts.length > 0 && section('Routers that admitted it', contactTable(contacts))
    }${section(
      'Timeline',
      events.length === 0
        ? empty('No events', 'The audit log no longer has them.')
        : html`${eventList(events, identity?.id)}${omitted > 0 && html`<p class="hint">${omitted} older events are not shown.</p>`}`,
    )}`,
  })
}

function about({ id, identity, live }: SessionPage): SafeHtml {
  const shown =
    live &&
    ([
      ['Program', html`<bdi>${programName(live.userAgent)}</bdi>`],
      ['User agent', live.userAgent && html`<bdi>${live.userAgent}</bdi>`],
      ['Address', html`<code>${live.address}</code>`],
      ['Client', live.clientId && html`<bdi>${live.clientId}</bdi>`],
      ['Proven by', html`${proofName(live.amr)} <span class="hint">${live.amr.join(', ')}</span>`],
      ['Began', time(live.createdAt)],
      ['Ends', time(live.expiresAt)],
    ] as const)
  return facts([
    ['Identity', identity && personLink(identity)],
    ...(shown ?? []),
    ['ID', html`<code>${id}</code>`],
  ])
}

/** Reloads itself until no router or instance can still accept the session. */
function confirmations({ here }: ConsoleFrame, end: ShownEnd): SafeHtml {
  const again =
    end.outcome === 'pending' &&
    html` hx-get="${here}" hx-trigger="every 2s" hx-select="#end" hx-swap="outerHTML"`
  return html`<div id="end"${again}>
${section('Who has confirmed the end', proof(end), outcomeOf(end))}</div>`
}

function outcomeOf({ outcome }: ShownEnd): SafeHtml {
  if (outcome === 'confirmed') return badge('good', 'Everyone has confirmed')
  return outcome === 'elapsed'
    ? badge('good', 'Refused everywhere')
    : badge('warn', 'Not everyone yet')
}

const STATES = {
  confirmed: badge('good', 'Confirmed'),
  waiting: badge('warn', 'Not yet'),
  'cut-off': badge('bad', 'Cut off'),
  'does-not-confirm': badge('quiet', 'Does not confirm'),
} as const

function proof({ parties, certainAt }: ShownEnd): SafeHtml {
  const isOpen = parties.some(({ state }) => state !== 'confirmed')
  return html`${isOpen && html`<p>A router or instance that has not confirmed refuses the session by itself, at the latest ${time(certainAt)}.</p>`}
${table<ShownParty>(
  'Confirmations',
  [
    { title: 'Name', look: 'wide', cell: ({ name }) => html`<bdi>${name}</bdi>` },
    { title: 'Kind', cell: ({ kind }) => kind },
    { title: 'State', cell: ({ state }) => STATES[state] },
    { title: 'Confirmed', cell: ({ confirmedAt }) => time(confirmedAt) },
    { title: 'Refuses by itself', cell: ({ refusesAt }) => time(refusesAt) },
  ],
  parties,
)}`
}

function contactTable(contacts: readonly ShownContact[]): SafeHtml {
  return table<ShownContact>(
    'Routers',
    [
      { title: 'Router', look: 'wide', cell: ({ router }) => personLink(router) },
      { title: 'First', cell: ({ firstAt }) => time(firstAt) },
      { title: 'Latest', cell: ({ lastAt }) => time(lastAt) },
    ],
    contacts,
  )
}
