/** Sessions as a table: whose, with what program, from where, since when. */
import type { Instant } from '../../../base/time/instant.ts'
import { type HtmlValue, html, type SafeHtml } from '../../login/html.ts'
import { sessionPath } from '../navigation.ts'
import { badge, type Column, personLink, table, time } from '../parts.ts'
import { programName } from '../program-name.ts'
import { proofName } from '../proof-name.ts'

export interface ListedSession {
  readonly id: string
  readonly identityId: string
  readonly identityName: string
  readonly kind: 'oidc' | 'legacy'
  readonly clientId: string | undefined
  readonly address: string
  readonly userAgent: string | undefined
  /** How the login was proven (RFC 8176). */
  readonly amr: readonly string[]
  /** Whether a second factor is outstanding. */
  readonly isPartial: boolean
  readonly isCurrent: boolean
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

export function sessionTable(
  rows: readonly ListedSession[],
  columns: readonly Column<ListedSession>[] = SESSION_COLUMNS,
): SafeHtml {
  return table('Sessions', columns, rows)
}

export const OWNER_COLUMN: Column<ListedSession> = {
  title: 'Identity',
  look: 'wide',
  cell: ({ identityId: id, identityName: name }) => personLink({ id, name }),
}

export const SESSION_COLUMNS: readonly Column<ListedSession>[] = [
  { title: 'Program', look: 'wide', cell: programCell },
  { title: 'Address', look: 'address', cell: ({ address }) => html`<code>${address}</code>` },
  { title: 'Proven by', cell: ({ amr }) => proofName(amr) },
  { title: 'Began', cell: ({ createdAt }) => time(createdAt) },
  { title: 'Ends', cell: ({ expiresAt }) => time(expiresAt) },
]

function programCell(session: ListedSession): HtmlValue {
  const { id, userAgent, clientId, kind, isCurrent, isPartial } = session
  const marks = [
    isCurrent && badge('good', 'This browser'),
    isPartial && badge('warn', 'Waits for a second factor'),
  ]
  return html`<a href="${sessionPath(id)}"><bdi>${programName(userAgent)}</bdi></a> ${marks}<span class="hint">${kind === 'legacy' ? 'zt-session' : html`client <bdi>${clientId}</bdi>`}</span>`
}
