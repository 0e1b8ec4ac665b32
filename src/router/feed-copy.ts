/**
 * What a router knows from its controller: keys, CAs, issuers, and what has ended; and whether it may still rely on it.
 * D-42. The feed's connection updates it line by line; the check of every request reads it.
 *
 * What has ended stays ended. So such a line counts at once, and a snapshot without it never removes it early: the
 * controller's instances do not all learn of an end at the same moment. Everything else counts from `ready` on: a feed
 * that is cut before that has changed nothing.
 */
import type { Clock } from '../base/time/clock.ts'
import { type Duration, hours, milliseconds, seconds } from '../base/time/duration.ts'
import { type Instant, later } from '../base/time/instant.ts'
import { readRoleSubject } from '../protocol/feed/role-removals.ts'
import { ROUTER_CUT_OFF_SECONDS } from '../protocol/limits.ts'
import type { PolicyDemands } from '../protocol/policy-demands.ts'
import { FeedFault, type FeedLine } from './feed-lines.ts'
import { createRoleRemovals, type RolesAt } from './roles.ts'
import { readTokenKeys, type TokenKeys } from './token-keys.ts'
import { readTrustedCas, type TrustedCas } from './trusted-cas.ts'

export interface Known {
  readonly brand: string
  readonly trustDomain: string
  readonly issuers: readonly string[]
  readonly epoch?: string | undefined
  readonly keys: TokenKeys
  readonly cas: TrustedCas
  /** By id; undefined with an older controller, which sends no policies (D-232). */
  readonly policies: ReadonlyMap<string, PolicyDemands> | undefined
}

export interface FeedCopy {
  /** For the lines of one connection; the first must be `hello`. */
  receive(): Reception
  /** Where to continue after a cut; undefined means from the beginning. */
  cursor(): string | undefined
  /** Makes the next connection request everything. */
  forgetCursor(): void
  /** Undefined until the first feed was ready. */
  known(): Known | undefined
  hasEnded(subject: string): boolean
  /** The roles of a session that its identity has not lost since (D-400). */
  rolesOf(identityId: string, roles: RolesAt): readonly string[]
  /** Whether nothing can be relied on: never ready, or no heartbeat for too long. */
  isCutOff(): boolean
  /**
   * Forgets endings that are over by both clocks (R115, D-230): the time of day may be ahead for a moment, and a
   * session whose ending was forgotten then would be alive again afterwards. Call it from time to time.
   */
  forgetExpired(): void
}

export interface Reception {
  /** Throws FeedFault if a line is not allowed now. */
  take(line: FeedLine): void
}

/** D-42: a router without a heartbeat for this long refuses every request. */
export const CUT_OFF_AFTER: Duration = seconds(ROUTER_CUT_OFF_SECONDS)

/** How much later than the first one a heartbeat may arrive: D-385. */
const LONGEST_DELAY: Duration = seconds(10)

/** For endings of a controller that does not say how long to keep them: longer than tokens usually live. */
const UNTOLD_KEEP: Duration = hours(1)

interface Ended {
  readonly keepUntil: Instant
  /** By the uptime: the ending is not forgotten before that. */
  readonly keepUptime: Duration
}

type Greeting = Pick<Known, 'brand' | 'trustDomain' | 'issuers' | 'epoch'>

export function createFeedCopy(deps: {
  readonly clock: Clock
  /** Called once for everything that ends; the listener closes what depended on it. */
  readonly onEnded: (subject: string) => void
  /** Called if the controller was restored from a backup: whatever was accepted before has ended (D-159). */
  readonly onNewEpoch?: () => void
  /** Called when an identity has lost a role. */
  readonly onRoleLost?: (identityId: string) => void
  /** Called when the demands of policies may have changed. */
  readonly onPolicies?: () => void
  /** Called when everything before this mark was applied (D-381). */
  readonly onMark?: (mark: string) => void
}): FeedCopy {
  const { clock, onEnded } = deps
  const ended = new Map<string, Ended>()
  const removals = createRoleRemovals()
  let known: Known | undefined
  let cursor: string | undefined
  let heardAt: Duration | undefined

  function end(subject: string, keepUntil: Instant, keepFor: Duration | undefined): void {
    const before = ended.get(subject)
    const uptime = clock.uptime()
    const forget = milliseconds(uptime + (keepFor ?? UNTOLD_KEEP))
    // Entries come twice; a repeated one is never forgotten earlier.
    ended.set(subject, {
      keepUntil: later(before?.keepUntil ?? keepUntil, keepUntil),
      keepUptime: milliseconds(Math.max(before?.keepUptime ?? forget, forget)),
    })
    if (before !== undefined) return
    const removal = readRoleSubject(subject)
    if (removal === undefined) onEnded(subject)
    else if (removals.add(removal)) deps.onRoleLost?.(removal.identityId)
  }

  return {
    receive,
    cursor: () => cursor,
    forgetCursor() {
      cursor = undefined
    },
    known: () => known,
    hasEnded: (subject) => ended.has(subject),
    rolesOf: removals.rolesOf,
    isCutOff: () => heardAt === undefined || clock.uptime() - heardAt > CUT_OFF_AFTER,
    forgetExpired() {
      const now = clock.now()
      const uptime = clock.uptime()
      for (const [subject, { keepUntil, keepUptime }] of ended) {
        if (keepUntil > now || keepUptime > uptime) continue
        ended.delete(subject)
        removals.forget(subject)
      }
    },
  }

  function learn(next: Known, at?: string): void {
    const isNewEpoch = known !== undefined && known.epoch !== next.epoch
    const areNewPolicies = known?.policies !== next.policies
    known = next
    if (at !== undefined) cursor = at
    if (isNewEpoch) deps.onNewEpoch?.()
    if (areNewPolicies) deps.onPolicies?.()
  }

  /**
   * Only a heartbeat proves that the controller's own copy is fresh: it sends none while the copy is stale, but it
   * would still send `hello`. If anything else counted, a router could follow a stale controller forever.
   */
  function beat(at: string): void {
    cursor = at
    heardAt = clock.uptime()
  }

  function receive(): Reception {
    /** What this connection has received so far, until it is ready. */
    let aside: (Greeting & Partial<Known>) | undefined
    let isReady = false
    let leastBehind = Number.POSITIVE_INFINITY

    /**
     * Attack: someone on the way delivers the lines of the feed ever later, each in time not to be missed, so that this
     * router goes on for hours with what was true before. The clocks of both sides may differ, so only the growth of the
     * difference counts (D-385). A new connection starts with what is true now.
     */
    function refuseDelayed(at: Instant | undefined): void {
      if (at === undefined) return
      const behind = clock.uptime() - at
      leastBehind = Math.min(leastBehind, behind)
      if (behind - leastBehind > LONGEST_DELAY)
        throw new Error('the feed of the controller is delayed')
    }

    function changeKnown(change: Partial<Pick<Known, 'keys' | 'cas' | 'policies'>>): void {
      if (isReady && known !== undefined) learn({ ...known, ...change })
      else if (aside !== undefined) aside = { ...aside, ...change }
    }

    function changePolicies(change: (policies: Map<string, PolicyDemands>) => void): void {
      const policies = new Map((isReady ? known : aside)?.policies)
      change(policies)
      changeKnown({ policies })
    }

    return {
      take(line) {
        if ((line.type === 'hello') !== (aside === undefined)) {
          throw new FeedFault(
            aside === undefined ? 'it does not begin with hello' : 'a second hello',
          )
        }
        switch (line.type) {
          case 'hello': {
            const { brand, trustDomain, issuers, isSnapshot, epoch } = line
            if (!isSnapshot && cursor === undefined) {
              throw new FeedFault('only changes were sent, but everything was requested')
            }
            aside = { brand, trustDomain, issuers, epoch }
            return
          }
          case 'keys': {
            const keys = readTokenKeys(line.keys)
            if (keys === undefined) throw new FeedFault('there is no key that can be used')
            return changeKnown({ keys })
          }
          case 'cas': {
            const cas = readTrustedCas(line.cas)
            if (cas === undefined) throw new FeedFault('the CAs cannot be read')
            return changeKnown({ cas })
          }
          case 'policy': {
            const { policy } = line
            return changePolicies((policies) => policies.set(policy.id, policy))
          }
          case 'policy-removed':
            return changePolicies((policies) => policies.delete(line.id))
          case 'ended':
            return end(line.subject, line.keepUntil, line.keepFor)
          case 'ready': {
            const { keys, cas, policies } = aside ?? {}
            if (aside === undefined || keys === undefined || cas === undefined) {
              throw new FeedFault('it is ready without keys or CAs')
            }
            learn({ ...aside, keys, cas, policies }, line.cursor)
            isReady = true
            return
          }
          case 'mark':
            // Before `ready`, it does not count yet: nothing is accepted by what this connection sent.
            if (isReady) deps.onMark?.(line.mark)
            return
          case 'heartbeat':
            // Before `ready`, something may still be missing.
            if (!isReady) return
            refuseDelayed(line.at)
            beat(line.cursor)
            return
          case 'other':
            return
        }
      },
    }
  }
}
