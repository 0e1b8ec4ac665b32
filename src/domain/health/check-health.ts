/**
 * Checks whether this instance can work, for load balancers and supervisors (D-34, D-137). Anonymous callers may ask,
 * so the one expensive check, a commit, runs at most twice a second for all callers together.
 */
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, milliseconds } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import { atMostEvery } from '../../base/time/rarely.ts'
import type { Installation } from '../installation/stores.ts'
import type { Rules } from '../policies/rules.ts'
import type { EndedSessions } from '../sessions/ending/ended-sessions.ts'
import type { SigningKeys } from '../tokens/keys/signing-keys.ts'

/** In the order in which they are shown. */
export const HEALTH_CHECKS = {
  store: 'The database commits.',
  'ended-sessions': 'The copy of ended sessions is fresh.',
  rules: 'The copy of policies, signers and CAs is fresh.',
  'signing-key': 'There is a key to sign tokens with.',
  serving: 'The service is not about to stop.',
} as const
export type HealthCheckId = keyof typeof HEALTH_CHECKS

export interface HealthCheck {
  readonly id: HealthCheckId
  readonly healthy: boolean
  readonly checkedAt: Instant
}

/** One for each of `HEALTH_CHECKS`. */
export type CheckHealth = () => Promise<readonly HealthCheck[]>

/** Together two seconds: a failure shows within that time. */
const INTERVAL: Duration = milliseconds(500)
const TIME_LIMIT: Duration = milliseconds(1_500)

export function createCheckHealth(deps: {
  readonly installation: Pick<Installation, 'touch'>
  readonly endedSessions: Pick<EndedSessions, 'isStale'>
  readonly rules: Pick<Rules, 'isStale'>
  readonly signingKeys: Pick<SigningKeys, 'isUsable'>
  readonly stopping: AbortSignal
  readonly clock: Clock
  /** How long a commit may take. */
  readonly timeLimit?: Duration
}): CheckHealth {
  const { installation, endedSessions, rules, signingKeys, stopping, clock } = deps
  const { timeLimit = TIME_LIMIT } = deps
  const check = (id: HealthCheckId, healthy: boolean, checkedAt = clock.now()): HealthCheck => ({
    id,
    healthy,
    checkedAt,
  })
  // One at a time, so that checks do not pile up on a store that hangs.
  const commit = atMostEvery({ interval: INTERVAL, timeLimit, clock }, () =>
    installation.touch().then(
      () => check('store', true),
      () => check('store', false),
    ),
  )

  return async () => {
    const store = commit().catch(() => check('store', false))
    const [committed, hasKey] = await Promise.all([store, signingKeys.isUsable()])
    const now = clock.now()
    return [
      committed,
      check('ended-sessions', !endedSessions.isStale(), now),
      check('rules', !rules.isStale(), now),
      check('signing-key', hasKey, now),
      check('serving', !stopping.aborted, now),
    ]
  }
}
