/**
 * Live sessions over time: D-361. Sessions that have ended are not stored, so their number is counted every quarter of an
 * hour, by whichever instance is first.
 */
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, days, minutes } from '../../base/time/duration.ts'
import { type Instant, instant, minus } from '../../base/time/instant.ts'
import type { ApiSessions } from '../sessions/stores.ts'
import type { HighestOfDay, SessionSample, SessionSamples } from './stores.ts'

export interface LiveSessionsOverTime {
  /** Since the beginning of the quarter of an hour 24 hours ago; those without a running instance are missing. */
  readonly quarters: readonly SessionSample[]
  /** The highest sample of each of the last 30 days (UTC); days without one are missing. */
  readonly days: readonly HighestOfDay[]
}

const SAMPLE_EVERY: Duration = minutes(15)
const DAY: Duration = days(1)
/** The 30 days of the overview, and the rest of the oldest. */
export const SAMPLES_KEPT: Duration = days(31)

/** Returns one round: counts, unless another instance has done so in this quarter of an hour. */
export function createSampleSessions(ports: {
  readonly clock: Pick<Clock, 'now'>
  readonly apiSessions: Pick<ApiSessions, 'countLive'>
  readonly sessionSamples: Pick<SessionSamples, 'has' | 'insert'>
}): () => Promise<void> {
  const { clock, apiSessions, sessionSamples } = ports
  let sampled: Instant | undefined
  return async () => {
    const now = clock.now()
    const at = startOf(now, SAMPLE_EVERY)
    if (at === sampled) return
    if (!(await sessionSamples.has(at))) {
      await sessionSamples.insert({ at, ...(await apiSessions.countLive(now)) })
    }
    sampled = at
  }
}

/** Two queries. */
export async function readLiveSessions(ports: {
  readonly clock: Pick<Clock, 'now'>
  readonly sessionSamples: Pick<SessionSamples, 'list' | 'listHighest'>
}): Promise<LiveSessionsOverTime> {
  const now = ports.clock.now()
  const { sessionSamples } = ports
  return {
    quarters: await sessionSamples.list(minus(startOf(now, SAMPLE_EVERY), DAY)),
    days: await sessionSamples.listHighest(minus(startOf(now, DAY), days(29))),
  }
}

function startOf(at: Instant, length: Duration): Instant {
  return instant(at - (at % length))
}
