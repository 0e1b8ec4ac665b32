/** GET /console/identities: everyone and everything that can sign in. */
import type { Instant } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { IDENTITIES_PATH, INVITE_SCREEN_PATH } from '../navigation.ts'
import { badge, empty, type Pages, pager, personLink, plural, table, time } from '../parts.ts'

export interface ListedIdentity {
  readonly id: string
  readonly name: string
  readonly isAdmin: boolean
  readonly isRouter: boolean
  readonly isDisabled: boolean
  readonly isLocked: boolean
  readonly hasSession: boolean
  readonly hasSecondFactor: boolean
  /** How it signs in: `password`, `certificate`, `external`. */
  readonly methods: readonly string[]
  readonly isInvited: boolean
  readonly policy: string
  readonly lastLoginAt: Instant | undefined
}

export interface IdentitiesPage {
  /** The text that names are filtered by. */
  readonly name: string
  readonly rows: readonly ListedIdentity[]
  readonly pages: Pages
}

export function identitiesPage(frame: ConsoleFrame, page: IdentitiesPage): SafeHtml {
  const { name, rows, pages } = page
  return consoleLayout(frame, {
    section: IDENTITIES_PATH,
    title: 'Identities',
    lead: html`<p class="lead">${plural(pages.total, 'identity', 'identities')} <a class="button" href="${INVITE_SCREEN_PATH}">Invite</a></p>`,
    content: html`<form class="filters" role="search" aria-label="Filter identities" method="get" action="${IDENTITIES_PATH}">
<div class="grow"><label for="name">Name contains</label>
<input id="name" name="name" type="search" value="${name}" maxlength="256" autocomplete="off" hx-get="${IDENTITIES_PATH}" hx-trigger="input changed delay:250ms, search" hx-target="#list" hx-select="#list" hx-swap="outerHTML" hx-replace-url="true"></div>
<button class="quiet" type="submit">Filter</button>
</form>
<div id="list">
${rows.length === 0 ? nothing(name) : identityTable(rows)}
${pager(pages)}
</div>`,
  })
}

export function identityTable(rows: readonly ListedIdentity[]): SafeHtml {
  return table(
    'Identities',
    [
      { title: 'Name', look: 'wide', cell: personLink },
      { title: 'State', cell: (row) => (hasState(row) ? stateOf(row) : '–') },
      {
        title: 'Signs in with',
        cell: ({ methods, hasSecondFactor }) =>
          [...methods, ...(hasSecondFactor ? ['second factor'] : [])].join(', ') || '–',
      },
      { title: 'Policy', cell: ({ policy }) => html`<bdi>${policy}</bdi>` },
      { title: 'Last sign-in', cell: ({ lastLoginAt }) => time(lastLoginAt, 'never') },
    ],
    rows,
  )
}

const hasState = (row: ListedIdentity) =>
  row.isDisabled || row.isLocked || row.isInvited || row.hasSession || row.isAdmin || row.isRouter

/** Every state that needs attention, the worst first. */
export function stateOf(row: ListedIdentity): SafeHtml {
  return html`${[
    row.isDisabled && badge('bad', 'Disabled'),
    row.isLocked && badge('warn', 'Locked'),
    row.isInvited && badge('warn', 'Invited'),
    row.hasSession && badge('good', 'Signed in'),
    row.isAdmin && badge('quiet', 'Administrator'),
    row.isRouter && badge('quiet', 'Router'),
  ].map((one) => one && html`${one} `)}`
}

function nothing(name: string): SafeHtml {
  return name === ''
    ? empty('No identities yet', html`<a href="${INVITE_SCREEN_PATH}">Invite someone</a>.`)
    : empty(
        `No name contains “${name}”`,
        'The search box above also finds usernames, external IDs, sessions, requests and certificates.',
      )
}
