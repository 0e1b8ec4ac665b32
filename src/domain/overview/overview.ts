/** What an administrator wants to know first: sign-ins, sessions, locks, instances, what expires, the last backup. D-369. */

import { days } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import { equals } from '../lists/filters.ts'
import type { ApiSession } from '../sessions/api-session.ts'
import type { Interval } from './counted-intervals.ts'
import { allExpiring, countEnrolledEnds, type Expiring } from './expiry.ts'
import { type Instance, type InstanceState, stateOf } from './instance.ts'
import type { OverviewPorts } from './ports.ts'
import { type LiveSessionsOverTime, readLiveSessions } from './session-samples.ts'
import { countSignIns } from './sign-ins.ts'
import type { ProofCount } from './stores.ts'

export interface Overview {
  readonly at: Instant
  readonly hours: readonly Interval[]
  readonly days: readonly Interval[]
  readonly sessions: Readonly<Record<ApiSession['kind'], number>>
  readonly sessionsOverTime: LiveSessionsOverTime
  /** What the live sessions have proven, the most frequent first. */
  readonly proofs: readonly Omit<ProofCount, 'kind'>[]
  readonly lockedPasswords: number
  readonly instances: readonly (Instance & { readonly state: InstanceState })[]
  readonly expiring: {
    /** What ends within 30 days, except for what the service renews itself, and what is overdue. */
    readonly rows: readonly Expiring[]
    /** Enrolled certificates among them, even beyond the listed ones. */
    readonly enrolledCertificates: number
  }
  readonly lastBackup: LastBackup | undefined
}

/** The last `latchkey backup` (D-370). */
export interface LastBackup {
  readonly at: Instant
  readonly rows: number | undefined
}

const SOON = days(30)
const MOST_EXPIRING = 20
const MOST_PROOFS = 20

export async function readOverview(ports: OverviewPorts): Promise<Overview> {
  const at = ports.clock.now()
  const expiring = (await allExpiring(ports)).filter(
    ({ endsAt, renewedBy }) => endsAt < (renewedBy === 'service' ? at : plus(at, SOON)),
  )
  const counts = await ports.statistics.countSessionsByProof(at)
  return {
    at,
    hours: await countSignIns(ports, 'day'),
    days: await countSignIns(ports, 'month'),
    sessions: { oidc: countOf(counts, 'oidc'), legacy: countOf(counts, 'legacy') },
    sessionsOverTime: await readLiveSessions(ports),
    proofs: withoutKind(counts).slice(0, MOST_PROOFS),
    lockedPasswords: await ports.statistics.countLocked(at),
    instances: (await ports.instances.list()).map((instance) => ({
      ...instance,
      state: stateOf(instance, at),
    })),
    expiring: {
      rows: expiring.slice(0, MOST_EXPIRING),
      enrolledCertificates: await countEnrolledEnds(ports, SOON),
    },
    lastBackup: await findLastBackup(ports),
  }
}

function countOf(counts: readonly ProofCount[], wanted: ApiSession['kind']): number {
  return counts.reduce((sum, { kind, sessions }) => sum + (kind === wanted ? sessions : 0), 0)
}

function withoutKind(counts: readonly ProofCount[]): readonly Omit<ProofCount, 'kind'>[] {
  const byProof = new Map<string, Omit<ProofCount, 'kind'>>()
  for (const { amr, sessions } of counts) {
    const key = amr.join(' ')
    byProof.set(key, { amr, sessions: sessions + (byProof.get(key)?.sessions ?? 0) })
  }
  const first = ([key]: readonly [string, unknown], [other]: readonly [string, unknown]) =>
    key < other ? -1 : 1
  return [...byProof]
    .toSorted((a, b) => b[1].sessions - a[1].sessions || first(a, b))
    .map(([, count]) => count)
}

async function findLastBackup({
  events,
}: Pick<OverviewPorts, 'events'>): Promise<LastBackup | undefined> {
  const filter = equals('type', 'installation.backed-up')
  const [newest] = (await events.list({ filter, limit: 1, offset: 0 })).rows
  if (newest === undefined) return undefined
  const rows = newest.details?.['rows']
  return { at: newest.at, rows: typeof rows === 'number' ? rows : undefined }
}
