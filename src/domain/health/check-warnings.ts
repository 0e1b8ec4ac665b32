/**
 * What an operator should look at although the instance can do its work (D-362). Load balancers must not leave for it, so
 * it never changes the status of `/health-checks`. Anonymous callers may ask, so the database is read at most every ten
 * seconds.
 */
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, days, seconds } from '../../base/time/duration.ts'
import { type Instant, minus } from '../../base/time/instant.ts'
import { atMostEvery } from '../../base/time/rarely.ts'
import type { Events } from '../audit/stores.ts'
import { allOf, compares, equals } from '../lists/filters.ts'

export const HEALTH_WARNINGS = {
  notifications: 'Links could not be delivered to notifications.webhook.',
} as const
export type HealthWarningId = keyof typeof HEALTH_WARNINGS

/** Returns those that apply. Never throws. */
export type CheckWarnings = () => Promise<readonly HealthWarningId[]>

export interface FailingNotices {
  /** How many notices wait for another attempt. */
  failing(): number
}

const INTERVAL: Duration = seconds(10)
const TIME_LIMIT: Duration = seconds(1)
/** Older failures are history: the audit log has them. */
const RECENT: Duration = days(1)

export function createCheckWarnings(deps: {
  readonly clock: Clock
  readonly events: Pick<Events, 'list'>
  /** Undefined if no webhook is configured. */
  readonly notices: FailingNotices | undefined
}): CheckWarnings {
  const { clock, events, notices } = deps
  if (notices === undefined) return async () => []
  const newest = async (type: string): Promise<Instant | undefined> => {
    const recent = compares('at', '>=', minus(clock.now(), RECENT))
    const filter = allOf(equals('type', type), recent)
    return (await events.list({ filter, limit: 1, offset: 0 })).rows[0]?.at
  }
  /** Whether the last delivery of any instance was given up. */
  const hasFailed = atMostEvery({ interval: INTERVAL, timeLimit: TIME_LIMIT, clock }, async () => {
    const failed = await newest('notification.failed')
    if (failed === undefined) return false
    const delivered = await newest('notification.delivered')
    return delivered === undefined || delivered < failed
  })
  return async () => {
    const isFailing = notices.failing() > 0 || (await hasFailed().catch(() => false))
    return isFailing ? ['notifications'] : []
  }
}
