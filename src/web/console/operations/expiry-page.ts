/** GET /console/expiry: everything that ends by itself, by date. */
import { days } from '../../../base/time/duration.ts'
import { type Instant, plus, toRfc3339 } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { EXPIRY_PATH } from '../navigation.ts'
import { badge, empty, personLink, plural, section, table, time } from '../parts.ts'

export interface ExpiringRow {
  readonly kind: string
  readonly name: string
  readonly endsAt: Instant
  readonly renewedBy: 'service' | 'operator' | 'holder'
  readonly identityId?: string
}

const KIND_TITLES: Readonly<Record<string, string>> = {
  'own-ca': 'Our CA',
  'server-certificate': 'Server certificate',
  'signing-key': 'Signing key',
  'third-party-ca': 'Third-party CA',
  'signer-certificate': 'Certificate of a signer',
  'enrolled-certificate': 'Enrolled certificate',
}

const RENEWED_BY = {
  service: 'the service, by itself',
  operator: 'you',
  holder: 'its holder',
} as const

export interface ExpiryPage {
  readonly now: Instant
  /** The kind that is shown; empty for all. */
  readonly kind: string
  readonly rows: readonly ExpiringRow[]
}

export function expiryPage(frame: ConsoleFrame, { now, kind, rows }: ExpiryPage): SafeHtml {
  const options = Object.entries(KIND_TITLES).map(
    ([value, title]) =>
      html`<option value="${value}"${value === kind && html` selected`}>${title}</option>`,
  )
  const months = Map.groupBy(rows, ({ endsAt }) => monthOf(endsAt))
  return consoleLayout(frame, {
    section: EXPIRY_PATH,
    title: 'Expiry calendar',
    lead: html`<p class="lead">${plural(rows.length, 'entry', 'entries')}</p>`,
    content: html`<form class="filters" method="get" action="${EXPIRY_PATH}" aria-label="Filter by kind">
<div><label for="kind">Kind</label><select id="kind" name="kind"><option value="">Everything</option>${options}</select></div>
<button class="quiet" type="submit">Filter</button>
</form>
${
  rows.length === 0
    ? empty('Nothing of this kind expires', 'Certificates, CAs and signing keys appear here.')
    : [...months].map(([month, listed]) => section(month, expiryTable(listed, now)))
}`,
  })
}

export function expiryTable(rows: readonly ExpiringRow[], now: Instant): SafeHtml {
  return table(
    'What expires',
    [
      {
        title: 'Ends',
        cell: (row) => html`<span>${time(row.endsAt)} ${toneOf(row, now)}</span>`,
      },
      { title: 'Kind', cell: ({ kind }) => KIND_TITLES[kind] ?? kind },
      {
        title: 'Name',
        look: 'wide',
        cell: ({ name, identityId }) =>
          identityId === undefined
            ? html`<bdi>${name}</bdi>`
            : personLink({ id: identityId, name }),
      },
      { title: 'Renewed by', cell: ({ renewedBy }) => RENEWED_BY[renewedBy] },
    ],
    rows,
  )
}

/** What the service renews itself needs no attention until it is overdue. */
function toneOf({ endsAt, renewedBy }: ExpiringRow, now: Instant): SafeHtml | undefined {
  if (endsAt <= now) return badge('bad', 'Expired')
  if (renewedBy === 'service') return undefined
  if (endsAt <= plus(now, days(7))) return badge('bad', 'Within a week')
  return endsAt <= plus(now, days(30)) ? badge('warn', 'Within 30 days') : undefined
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

function monthOf(at: Instant): string {
  const text = toRfc3339(at)
  return `${MONTHS[Number(text.slice(5, 7)) - 1]} ${text.slice(0, 4)}`
}
