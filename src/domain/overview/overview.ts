/** What an administrator wants to know first: sign-ins, sessions, locks, instances, what expires, the last backup. D-369. */

import { days } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import { equals } from '../lists/filters.ts'
import type { ApiSession } from '../sessions/api-session.ts'
import type { Interval } from './counted-intervals.ts'
import { allExpiring, countEnrolledEnds, type Expiring } from './expiry.ts'
import { type Instance, type InstanceState, stateOf } from './instance.ts'
import type { OverviewPorts } from './ports.ts'
import { countSignIns } from './sign-ins.ts'
import type { ProofCount } from './stores.ts'

export interface Overview {
  readonly at: Instant
  readonly hours: readonly Interval[]
  readonly days: readonly Interval[]
  readonly sessions: Readonly<Record<ApiSession['kind'], number>>
  /** What the live sessions have proven. */
  readonly proofs: readonly ProofCount[]
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

export async function readOverview(ports: OverviewPorts): Promise<Overview> {
  const at = ports.clock.now()
  const expiring = (await allExpiring(ports)).filter(
    ({ endsAt, renewedBy }) => endsAt < (renewedBy === 'service' ? at : plus(at, SOON)),
  )
  return {
    at,
    hours: await countSignIns(ports, 'day'),
    days: await countSignIns(ports, 'month'),
    sessions: await ports.apiSessions.countLive(at),
    proofs: await ports.statistics.countSessionsByProof(at),
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

export async function findLastBackup({
  events,
}: Pick<OverviewPorts, 'events'>): Promise<LastBackup | undefined> {
  const filter = equals('type', 'installation.backed-up')
  const [newest] = (await events.list({ filter, limit: 1, offset: 0 })).rows
  if (newest === undefined) return undefined
  const rows = newest.details?.['rows']
  return { at: newest.at, rows: typeof rows === 'number' ? rows : undefined }
}
