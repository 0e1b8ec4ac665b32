/** GET /console/routers: edge routers and gateways, and when each was last heard. D-381. */
import type { Instant } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { ROUTERS_PATH } from '../navigation.ts'
import {
  badge,
  empty,
  exactTime,
  type Pages,
  pager,
  personLink,
  plural,
  table,
  time,
} from '../parts.ts'

export interface ShownRouter {
  readonly id: string
  readonly name: string
  readonly hosts: readonly string[]
  readonly isDisabled: boolean
  readonly isConnected: boolean
  readonly confirms: boolean | undefined
  readonly contactAt: Instant | undefined
  readonly connectedAt: Instant | undefined
  readonly programs: number
}

export function routersPage(
  frame: ConsoleFrame,
  { rows, pages }: { readonly rows: readonly ShownRouter[]; readonly pages: Pages },
): SafeHtml {
  return consoleLayout(frame, {
    section: ROUTERS_PATH,
    title: 'Routers and gateways',
    lead: html`<p class="lead">${plural(pages.total, 'router')}</p>`,
    content: html`${
      rows.length === 0
        ? empty(
            'No routers yet',
            html`Create one with <code>latchkey create router NAME --host HOST</code>, and start <code>latchkey gateway --enroll</code> with the token that it prints.`,
          )
        : table(
            'Routers and gateways',
            [
              { title: 'Name', look: 'wide', cell: personLink },
              { title: 'Hosts', look: 'wide', cell: ({ hosts }) => hosts.join(', ') || '–' },
              { title: 'State', cell: stateOf },
              { title: 'Last contact', cell: ({ contactAt }) => time(contactAt, 'never') },
              { title: 'Connected since', cell: ({ connectedAt }) => exactTime(connectedAt) },
              { title: 'Programs', look: 'number', cell: ({ programs }) => programs },
              {
                title: 'Confirms ends',
                cell: ({ confirms }) => {
                  if (confirms === undefined) return '–'
                  return confirms ? 'yes' : badge('warn', 'No: an older version')
                },
              },
            ],
            rows,
          )
    }
${pager(pages)}`,
  })
}

function stateOf({ isDisabled, isConnected, contactAt }: ShownRouter): SafeHtml {
  if (isDisabled) return badge('bad', 'Disabled')
  if (isConnected) return badge('good', 'Connected')
  return contactAt === undefined
    ? badge('quiet', 'Never connected')
    : badge('warn', 'Not connected')
}
