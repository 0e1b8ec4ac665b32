/**
 * Refusals are events that a caller without a credential can cause, as many as it likes, so their rows are bounded: D-207.
 * The first ones of a minute have a row each; what repeats them shares one row, which counts. Where refusals come from more
 * networks than that can bound, those of no known identity are dropped, and counted in the metrics.
 */
import { networkOf } from '../../base/network.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, inSeconds, milliseconds, minutes } from '../../base/time/duration.ts'
import type { AuditEvent, EventType, Fold } from './events.ts'

/** Undefined: the event has a row of its own. */
export type FoldRepeats = (event: AuditEvent) => Fold | undefined

/** What a caller without a credential can cause. */
export const FOLDED_TYPES: readonly EventType[] = [
  'login.failed',
  'enrollment.refused',
  'token.refused',
]

/** Rows of their own for each minute, reason, and identity or network: people who mistype are found by request id. */
const FIRST = 10

/** Rows at once, and then one a second: 55 MB a day at the most, of 633 bytes each. */
const BURST = 600

/** What is remembered of a minute; beyond it every refusal is folded or dropped. */
const MOST_GROUPS = 10_000

const MINUTE = minutes(1)
/** In the place of the network where those are too many. */
const ANY_NETWORK = '*'

export function createFoldRepeats(deps: { readonly clock: Pick<Clock, 'uptime'> }): FoldRepeats {
  const anonymousRows = createBudget(deps.clock)
  const identityRows = createBudget(deps.clock)
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
    // What concerns an identity is never lost: one row a minute for all networks.
    return identity === '' ? 'dropped' : { key: `${kind} ${ANY_NETWORK}` }
  }
}

/** So many at once, and one more each second. */
function createBudget(clock: Pick<Clock, 'uptime'>) {
  let left = BURST
  let filledAt: Duration | undefined
  return {
    take(): boolean {
      const now = clock.uptime()
      left = Math.min(BURST, left + inSeconds(milliseconds(now - (filledAt ?? now))))
      filledAt = now
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}
