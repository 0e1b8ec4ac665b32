/** `latchkey overview` and `latchkey expiry`: how the installation is, and what ends when. D-367 to D-370. */
import { systemClock } from '../../base/time/clock.ts'
import { instant, toRfc3339 } from '../../base/time/instant.ts'
import type { Expiring, Overview } from '../../contract/management/overview.ts'
import { openApi, type SessionValues } from '../api/open-api.ts'
import { EXIT, type ExitCode, type Io } from '../terminal/io.ts'
import { plain, printFields, printJson, printTable } from '../terminal/output.ts'
import { numberOf } from './entities/fields.ts'

export async function showOverview(values: SessionValues, io: Io): Promise<ExitCode> {
  const api = await openApi(values, io)
  const answer = await api.get('/overview')
  if (values.json === true) return printJson(io, answer)
  const overview = answer as unknown as Overview
  const { sessions, expiring } = overview
  const sum = (count: (hour: Overview['signIns']['hours'][number]) => number) =>
    String(overview.signIns.hours.reduce((total, hour) => total + count(hour), 0))
  printFields(io, [
    ['sign-ins, last 24 hours', sum(({ succeeded }) => succeeded)],
    ['failures, last 24 hours', sum(({ failed }) => failed)],
    ['locks, last 24 hours', sum(({ locked }) => locked)],
    ['locked passwords now', String(overview.lockedPasswords)],
    ['live sessions', `${sessions.oidc} OIDC, ${sessions.legacy} legacy`],
    [
      '  highest, last 24 hours',
      String(
        Math.max(
          sessions.oidc + sessions.legacy,
          ...overview.sessionsOverTime.quarters.map(({ oidc, legacy }) => oidc + legacy),
        ),
      ),
    ],
    ...overview.proofs.map(({ amr, sessions: count }): [string, string] => [
      `  proven by ${amr.join(' + ')}`,
      String(count),
    ]),
    ['certificates that expire in 30 days', String(expiring.enrolledCertificates)],
    ['last backup', overview.lastBackup?.at ?? 'none recorded: latchkey backup --out FILE'],
  ])
  io.out('')
  printTable(io, overview.instances, [
    { title: 'INSTANCE', value: ({ host }) => host },
    { title: 'VERSION', value: ({ version }) => version },
    {
      title: 'STATE',
      value: ({ state, failing, warnings }) => [state, ...failing, ...warnings].join(' '),
    },
    { title: 'SEEN', value: ({ seenAt }) => seenAt },
    { title: 'STARTED', value: ({ startedAt }) => startedAt },
  ])
  if (expiring.rows.length > 0) {
    io.out('')
    printExpiring(io, expiring.rows)
  }
  return EXIT.ok
}

/** Exit code 1 if something ends within `--days`, so that a job can tell. */
export async function showExpiry(
  values: SessionValues & { readonly days?: string; readonly kind?: string },
  io: Io,
): Promise<ExitCode> {
  const within = values.days === undefined ? undefined : numberOf('days', values.days)
  const api = await openApi(values, io)
  const until = within === undefined ? undefined : timeIn(within)
  const parts = [
    ...(until === undefined ? [] : [`endsAt < datetime(${until})`]),
    ...(values.kind === undefined ? [] : [`kind = ${JSON.stringify(values.kind)}`]),
  ]
  const filter = parts.length === 0 ? undefined : parts.join(' and ')
  const { rows, total } = await api.list('/expiry', { filter, limit: 500 })
  const expiring = rows as unknown as readonly Expiring[]
  if (values.json === true) printJson(io, rows)
  else if (expiring.length === 0) io.out('Nothing expires.')
  else {
    printExpiring(io, expiring)
    if (total > rows.length) io.out(plain(`and ${total - rows.length} more`))
  }
  return within !== undefined && expiring.length > 0 ? EXIT.failed : EXIT.ok
}

const DAY = 86_400_000

function timeIn(days: number): string {
  return toRfc3339(instant(systemClock.now() + days * DAY))
}

function printExpiring(io: Io, rows: readonly Expiring[]): void {
  printTable(io, rows, [
    { title: 'ENDS', value: ({ endsAt }) => endsAt },
    { title: 'IN DAYS', value: ({ endsAt }) => daysUntil(endsAt) },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'RENEWED BY', value: ({ renewedBy }) => renewedBy },
  ])
}

function daysUntil(at: string): string {
  return String(Math.floor((instant(Date.parse(at)) - systemClock.now()) / DAY))
}
