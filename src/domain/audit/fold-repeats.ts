/**
 * A caller without credentials can cause any number of refusals, so the number of their rows is bounded: D-207. The
 * first refusals of a minute have a row each; repeats share one row, which counts them. If refusals come from too many
 * networks for that bound, those without a known identity are dropped, and counted in the metrics.
 */
import { networkOf } from '../../base/network.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, inSeconds, milliseconds, minutes } from '../../base/time/duration.ts'
import type { AuditEvent, EventType, Fold } from './events.ts'

/** Undefined if the event has its own row. */
export type FoldRepeats = (event: AuditEvent) => Fold | undefined

/** The events that a caller without credentials can cause. */
export const FOLDED_TYPES: readonly EventType[] = [
  'login.failed',
  'device.refused',
  'enrollment.refused',
  'token.refused',
]

/**
 * Individual rows per minute, reason, and identity or network, so that a user's typing error can be found by its
 * request id.
 */
const FIRST = 10

/** The burst of rows; after it one row per second. At 633 bytes each, that is at most 55 MB a day. */
const BURST = 600

/** The most entries remembered for a minute; beyond it every refusal is folded or dropped. */
const MOST_GROUPS = 10_000

const MINUTE = minutes(1)
/** Used instead of the network when there are too many networks. */
const ANY_NETWORK = '*'

export function createFoldRepeats(deps: {
  readonly clock: Pick<Clock, 'uptime'>
  /** How many processes divide the budget of rows among them, in equal shares (D-290). */
  readonly processes?: number
}): FoldRepeats {
  const { clock, processes = 1 } = deps
  const anonymousRows = createBudget(clock, 1 / processes)
  const identityRows = createBudget(clock, 1 / processes)
  let minute = 0
  let groups = new Map<string, number>()
  let rows = new Set<string>()

  return (event) => {
    if (!FOLDED_TYPES.includes(event.type)) return undefined
    const now = Math.floor(event.at / MINUTE)
    if (now !== minute) {
      minute = now
      groups = new Map()
      rows = new Set()
    }
    const network = event.caller === undefined ? '' : networkOf(event.caller.address)
    const reason = 'reason' in event ? event.reason : ''
    const identity = ('identityId' in event ? event.identityId : undefined) ?? ''
    const session = ('sessionId' in event ? event.sessionId : undefined) ?? ''
    const kind = [minute, event.type, reason, identity, session].join(' ')
    const group = identity === '' ? `${kind} ${network}` : kind
    const budget = identity === '' ? anonymousRows : identityRows

    const before = groups.get(group) ?? 0
    const isKnown = before > 0 || groups.size < MOST_GROUPS
    if (before < FIRST && isKnown && budget.take()) {
      groups.set(group, before + 1)
      return undefined
    }
    const key = `${kind} ${network}`
    if (rows.has(key)) return { key }
    if (rows.size < MOST_GROUPS && budget.take()) {
      rows.add(key)
      return { key }
    }
    // Events about an identity are never lost: one row per minute for all networks together.
    return identity === '' ? 'dropped' : { key: `${kind} ${ANY_NETWORK}` }
  }
}

/** Allows a burst of this many, and one more each second, or a share of both. */
function createBudget(clock: Pick<Clock, 'uptime'>, share: number) {
  const most = BURST * share
  let left = most
  let filledAt: Duration | undefined
  return {
    take(): boolean {
      const now = clock.uptime()
      left = Math.min(most, left + share * inSeconds(milliseconds(now - (filledAt ?? now))))
      filledAt = now
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}
