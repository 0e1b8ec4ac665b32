/**
 * Sign-ins, failures and locks over time, from the audit events. D-369. Each interval is counted by one query over the
 * index on type and time. Intervals that are over do not change, so they are counted once and kept in memory.
 */
import { type Duration, days, hours } from '../../base/time/duration.ts'
import { type Instant, instant, plus } from '../../base/time/instant.ts'
import type { Interval } from './counted-intervals.ts'
import type { OverviewPorts } from './ports.ts'

/** The last day by hours, or the last 30 days by days; in UTC, and the current one is not over yet. */
const PERIODS = {
  day: { length: hours(1), count: 24 },
  month: { length: days(1), count: 30 },
} as const satisfies Record<string, { length: Duration; count: number }>
export type Period = keyof typeof PERIODS

const TYPES = ['login.succeeded', 'login.failed', 'login.locked'] as const

/** Commits can come a little later than the time of their event. */
const SETTLED_AFTER: Duration = hours(1)

export async function countSignIns(
  ports: Pick<OverviewPorts, 'clock' | 'statistics' | 'countedIntervals'>,
  period: Period,
): Promise<readonly Interval[]> {
  const { clock, countedIntervals } = ports
  const { length, count } = PERIODS[period]
  const now = clock.now()
  const current = Math.floor(now / length)
  const intervals: Interval[] = []
  for (let n = current - count + 1; n <= current; n += 1) {
    const from = instant(n * length)
    const key = `${period} ${n}`
    const interval =
      countedIntervals.get(key) ?? (await countInterval(ports, from, plus(from, length)))
    if (plus(interval.to, SETTLED_AFTER) <= now) countedIntervals.set(key, interval)
    intervals.push(interval)
  }
  return intervals
}

async function countInterval(
  { statistics }: Pick<OverviewPorts, 'statistics'>,
  from: Instant,
  to: Instant,
): Promise<Interval> {
  const counts = await statistics.countEvents(TYPES, from, to)
  return {
    from,
    to,
    succeeded: counts.get('login.succeeded') ?? 0,
    failed: counts.get('login.failed') ?? 0,
    locked: counts.get('login.locked') ?? 0,
  }
}
