/** GET /console/sessions: every live session; filter, sort, end one or many. */
import { form } from '../../account/layout.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, confirmFirst, consoleLayout } from '../layout.ts'
import { SESSIONS_PATH, STREAM_PATH, sessionsPath } from '../navigation.ts'
import { type Column, empty, type Pages, pager, plural, searchField } from '../parts.ts'
import { type ListedSession, OWNER_COLUMN, SESSION_COLUMNS, sessionTable } from './session-table.ts'

export const END_SESSIONS_PATH = `${SESSIONS_PATH}/end`

/** The orders that the headings of the table offer, with the fields of the list. */
export const SESSION_ORDERS = {
  Address: 'ipAddress',
  Began: 'createdAt',
  Ends: 'expiresAt',
} as const

export interface SessionFilter {
  readonly identity: string
  readonly address: string
  readonly program: string
}

export interface SessionsPage {
  readonly filter: SessionFilter
  readonly sort: { readonly field: string; readonly direction: 'asc' | 'desc' }
  readonly rows: readonly ListedSession[]
  readonly pages: Pages
}

export function sessionsPage(frame: ConsoleFrame, page: SessionsPage): SafeHtml {
  const { filter, rows, pages } = page
  return consoleLayout(frame, {
    section: SESSIONS_PATH,
    title: 'Live sessions',
    lead: html`<p class="lead" data-stream="${STREAM_PATH}"><span data-stream-state role="status"></span></p>`,
    content: html`<form class="filters" role="search" aria-label="Filter sessions" method="get" action="${SESSIONS_PATH}">
${searchField('identity', 'Identity contains', filter.identity)}
${searchField('address', 'Address contains', filter.address)}
${searchField('program', 'Program contains', filter.program)}
<button class="quiet" type="submit">Filter</button>
</form>
${confirmFirst(frame)}<div id="list" data-live hx-get="${frame.here}" hx-trigger="refresh" hx-select="#list" hx-swap="outerHTML">
<p class="lead">${plural(pages.total, 'session')}</p>
${rows.length === 0 ? nothing(filter) : form(frame.formToken, END_SESSIONS_PATH, chooser(page))}
${pager(pages)}
</div>`,
  })
}

function chooser({ rows, filter, sort }: SessionsPage): SafeHtml {
  const columns: readonly Column<ListedSession>[] = [
    {
      title: 'End',
      cell: ({ id, identityName, address }) =>
        html`<input type="checkbox" name="session" value="${id}" aria-label="End the session of ${identityName} from ${address}">`,
    },
    OWNER_COLUMN,
    ...SESSION_COLUMNS.map((column) => sortable(column, filter, sort)),
  ]
  return html`${sessionTable(rows, columns)}
<p class="actions"><button class="bad" type="submit">End chosen sessions</button> <span class="hint">They end at once, on every router too. Their holders can sign in again.</span></p>`
}

function sortable(
  column: Column<ListedSession>,
  filter: SessionFilter,
  sort: SessionsPage['sort'],
): Column<ListedSession> {
  const orders: Readonly<Record<string, string>> = SESSION_ORDERS
  const by = orders[column.title]
  if (by === undefined) return column
  const direction = sort.field === by ? sort.direction : undefined
  const next = direction === 'desc' ? 'asc' : 'desc'
  return {
    ...column,
    sort: { href: sessionsPath({ ...filter, sort: `${by} ${next}` }), direction },
  }
}

function nothing({ identity, address, program }: SessionFilter): SafeHtml {
  return identity === '' && address === '' && program === ''
    ? empty('No one is signed in', 'A session appears here as soon as a sign-in finishes.')
    : empty('No session matches', 'Remove a filter to see more.')
}
