/** GET /console: how the installation is. */
import { days, minutes } from '../../../base/time/duration.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { CONSOLE_PATH, EXPIRY_PATH } from '../navigation.ts'
import { type ExpiringRow, expiryTable } from '../operations/expiry-page.ts'
import { badge, empty, exactTime, plural, section, table, time } from '../parts.ts'
import { type SessionPoint, sessionChart } from './session-chart.ts'
import { type ChartedInterval, signInChart } from './sign-in-chart.ts'

export interface OverviewPage {
  readonly at: Instant
  readonly hours: readonly ChartedInterval[]
  readonly days: readonly ChartedInterval[]
  readonly sessions: { readonly oidc: number; readonly legacy: number }
  /** Ends with the current number; that of a month with the highest of today. */
  readonly liveSessions: {
    readonly day: readonly SessionPoint[]
    readonly month: readonly SessionPoint[]
  }
  readonly proofs: readonly { readonly name: string; readonly sessions: number }[]
  readonly lockedPasswords: number
  readonly instances: readonly ShownInstance[]
  readonly expiring: readonly ExpiringRow[]
  readonly expiringCertificates: number
  readonly lastBackup: Instant | undefined
  /** Whether the last backup is older than a week, or there is none. */
  readonly isBackupOld: boolean
}

export interface ShownInstance {
  readonly host: string
  readonly version: string
  readonly state: 'healthy' | 'degraded' | 'unhealthy' | 'missing'
  readonly failing: readonly string[]
  readonly warnings: readonly string[]
  readonly seenAt: Instant
  readonly startedAt: Instant
}

const QUARTER = minutes(15)
const DAY = days(1)

export function overviewPage(frame: ConsoleFrame, page: OverviewPage): SafeHtml {
  const { hours, days: byDay, sessions, lockedPasswords, expiring, lastBackup } = page
  const sum = (count: (interval: ChartedInterval) => number) =>
    hours.reduce((total, interval) => total + count(interval), 0)
  return consoleLayout(frame, {
    section: CONSOLE_PATH,
    title: 'Overview',
    lead: html`<p class="lead">Updated ${time(page.at)}</p>`,
    content: html`<dl class="numbers" id="numbers" hx-get="${CONSOLE_PATH}" hx-trigger="every 30s" hx-select="#numbers" hx-swap="outerHTML">
${number('Live sessions', sessions.oidc + sessions.legacy)}
${number(
  'Sign-ins, 24 hours',
  sum(({ succeeded }) => succeeded),
)}
${number(
  'Failures, 24 hours',
  sum(({ failed }) => failed),
)}
${number('Locked passwords', lockedPasswords, lockedPasswords > 0 ? 'warn' : undefined)}
${number('Expire within 30 days', expiring.length, expiring.length > 0 ? 'warn' : undefined)}
</dl>
<div class="columns">
${section('Sign-ins, last 24 hours', signInChart({ id: 'day', title: 'Sign-ins, last 24 hours', by: 'hours', intervals: hours }))}
${section('Live sessions, last 24 hours', sessionChart({ id: 'live-day', title: 'Live sessions, last 24 hours', by: 'hours', step: QUARTER, length: DAY, points: page.liveSessions.day }))}
</div>
<div class="columns">
${section('Sign-ins, last 30 days', signInChart({ id: 'month', title: 'Sign-ins, last 30 days', by: 'days', intervals: byDay }))}
${section('Live sessions, last 30 days', sessionChart({ id: 'live-month', title: 'Live sessions, last 30 days', by: 'days', step: DAY, length: days(29), points: page.liveSessions.month }))}
</div>
${section('Factors in use', factors(page))}
${section('Instances', instances(page))}
${section(
  'Expires soon',
  expiring.length === 0
    ? empty('Nothing expires within 30 days', 'The service renews its own certificates and keys.')
    : html`${page.expiringCertificates > expiring.length && html`<p class="hint">${plural(page.expiringCertificates, 'enrolled certificate expires', 'enrolled certificates expire')} within 30 days; the next ones are listed.</p>`}${expiryTable(expiring, page.at)}`,
  html`<a href="${EXPIRY_PATH}">All by date</a>`,
)}
${section(
  'Last backup',
  lastBackup === undefined
    ? empty(
        'No backup is recorded',
        html`Make one with <code>latchkey backup --out FILE</code>. Copies made by other programs are not known here.`,
      )
    : html`<p>${time(lastBackup)} ${page.isBackupOld ? badge('warn', 'More than a week ago') : badge('good', 'Recent')}</p>`,
)}`,
  })
}

function number(title: string, value: number, tone?: 'warn'): SafeHtml {
  return html`<div${tone !== undefined && html` class="${tone}"`}><dt>${title}</dt><dd>${value}</dd></div>`
}

function factors({ proofs, sessions }: OverviewPage): SafeHtml {
  if (proofs.length === 0) {
    return empty('No live sessions', 'As soon as users sign in, this shows what they prove.')
  }
  const all = proofs.reduce((total, one) => total + one.sessions, 0)
  return html`<p class="hint">What the live sessions have proven: ${sessions.oidc} OIDC, ${sessions.legacy} legacy.</p>
${table(
  'Factors in use',
  [
    { title: 'Signed in with', cell: ({ name }) => name },
    {
      title: 'Share',
      cell: ({ sessions: count }) => {
        const share = Math.round((count / all) * 100)
        return html`<span class="shared"><svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="8"/><rect class="good" width="${share}" height="8"/></svg> <span class="hint">${share} %</span></span>`
      },
    },
    { title: 'Sessions', look: 'number', cell: ({ sessions: count }) => count },
  ],
  proofs,
)}`
}

const STATES = {
  healthy: badge('good', 'Healthy'),
  degraded: badge('warn', 'Degraded'),
  unhealthy: badge('bad', 'Unhealthy'),
  missing: badge('warn', 'Not seen'),
} as const

function instances({ instances: all }: OverviewPage): SafeHtml {
  if (all.length === 0) return empty('No reports yet', 'Each instance reports once a minute.')
  const versions = new Set(all.map(({ version }) => version))
  return html`${versions.size > 1 && html`<p class="hint">The instances run different versions.</p>`}${table(
    'Instances',
    [
      { title: 'Machine', look: 'wide', cell: ({ host }) => html`<bdi>${host}</bdi>` },
      {
        title: 'Health',
        cell: ({ state, failing, warnings }) => {
          const why = [...failing, ...warnings].join(', ')
          return html`${STATES[state]}${why !== '' && html` <span class="hint">${why}</span>`}`
        },
      },
      { title: 'Version', cell: ({ version }) => html`<code>${version}</code>` },
      { title: 'Last report', cell: ({ seenAt }) => time(seenAt) },
      { title: 'Running since', cell: ({ startedAt }) => exactTime(startedAt) },
    ],
    all,
  )}`
}
