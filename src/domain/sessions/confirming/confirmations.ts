/**
 * Which routers and instances have confirmed that something ended, and until when the others may still act on what they
 * knew before. D-381, D-382.
 *
 * An instance confirms what is in the copies of all its processes. A router confirms what it has applied: it refuses the
 * session, and has closed its connections. That is the router's own word, given with its own certificate.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { IdentityId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, seconds } from '../../../base/time/duration.ts'
import { type Instant, minus, plus } from '../../../base/time/instant.ts'
import { ROUTER_CUT_OFF_SECONDS } from '../../../protocol/limits.ts'
import { STALE_AFTER } from '../../policies/rules.ts'
import type { Stores } from '../../stores.ts'
import { type ConfirmingInstance, INSTANCE_GONE } from './confirming-instance.ts'
import type { ConfirmedThing } from './ending-id.ts'
import { covers, type Range } from './position.ts'
import type { ShownRun, Step } from './stores.ts'

export interface RouterConfirmation {
  readonly routerId: IdentityId
  /** Undefined if the identity was deleted. */
  readonly name: string | undefined
  /**
   * `waiting`: connected, and it has not confirmed yet. `cut-off`: it has lost its controller. `does-not-confirm`: an
   * older program, which follows the feed but never says so.
   */
  readonly state: 'confirmed' | 'waiting' | 'cut-off' | 'does-not-confirm'
  readonly confirmedAt: Instant | undefined
  /** When it was last heard. */
  readonly contactAt: Instant
  /** By then it has applied the end, or refuses every request; undefined if it has confirmed. */
  readonly refusesAt: Instant | undefined
}

export interface InstanceConfirmation {
  readonly id: string
  readonly host: string
  readonly state: 'confirmed' | 'waiting'
  readonly confirmedAt: Instant | undefined
  readonly refusesAt: Instant | undefined
}

/**
 * `confirmed`: everyone has confirmed. `elapsed`: the others have applied it, or refuse every request, because the time
 * that they may go on without news is over. `pending`: someone may still accept what has ended.
 */
export type ConfirmationOutcome = 'confirmed' | 'elapsed' | 'pending'

export interface Confirmations {
  readonly outcome: ConfirmationOutcome
  /** When it ended. */
  readonly endedAt: Instant
  /** By then no one accepts it any more, whether they confirm or not. */
  readonly certainAt: Instant
  readonly routers: readonly RouterConfirmation[]
  readonly instances: readonly InstanceConfirmation[]
}

export interface ConfirmationPorts extends Pick<Stores, 'routerRuns' | 'instances'> {
  readonly clock: Clock
}

/** Routers confirm every ten seconds, and their contact is written every thirty: D-381. */
export const ROUTER_SILENT: Duration = seconds(60)
const CUT_OFF: Duration = seconds(ROUTER_CUT_OFF_SECONDS)
/** Far more programs than an installation has routers. */
export const MOST_RUNS = 10_000

/** Two queries. */
export async function readConfirmations(
  { routerRuns, instances, clock }: ConfirmationPorts,
  thing: ConfirmedThing,
): Promise<Confirmations> {
  const [runs, rows] = await Promise.all([routerRuns.list(MOST_RUNS), instances.list()])
  return judge(thing, runs, rows, clock.now())
}

/** Polls for at most `limit`, and returns earlier when there is nothing left to wait for. */
export async function awaitConfirmations(
  ports: ConfirmationPorts,
  thing: ConfirmedThing,
  limit: Duration,
): Promise<Confirmations> {
  let left: number = limit
  for (let next = FIRST_PAUSE; ; next = Math.min(next * 2, LONGEST_PAUSE)) {
    const state = await readConfirmations(ports, thing)
    if (state.outcome !== 'pending' || left <= 0) return state
    await pause(Math.min(next, left))
    left -= next
  }
}

const FIRST_PAUSE = 50
const LONGEST_PAUSE = 500

/** Exported for its tests. */
export function judge(
  { ranges, at }: ConfirmedThing,
  runs: readonly ShownRun[],
  rows: readonly ConfirmingInstance[],
  now: Instant,
): Confirmations {
  // An instance that cannot read the database refuses every call, and sends no heartbeat.
  const instanceRefusesAt = plus(at, STALE_AFTER)
  const certainAt = plus(instanceRefusesAt, CUT_OFF)
  const routers = runs
    .filter((run) => !hasRefusedSince(run, at))
    .map((run) => judgeRouter(run, ranges, certainAt, now))
  const instances = rows
    .filter(({ seenAt }) => seenAt > minus(now, INSTANCE_GONE))
    .map(({ id, host, steps }): InstanceConfirmation => {
      const confirmedAt = firstCovering(steps, ranges)
      return confirmedAt === undefined
        ? { id, host, state: 'waiting', confirmedAt, refusesAt: instanceRefusesAt }
        : { id, host, state: 'confirmed', confirmedAt, refusesAt: undefined }
    })
  const open = [...routers, ...instances].filter(({ state }) => state !== 'confirmed')
  const isOver = open.every(({ refusesAt }) => refusesAt !== undefined && refusesAt <= now)
  const outcome = open.length === 0 ? 'confirmed' : isOver ? 'elapsed' : 'pending'
  return { outcome, endedAt: at, certainAt, routers, instances }
}

/** It had refused every request before this happened, so it has nothing to confirm. */
function hasRefusedSince({ closedAt }: ShownRun, at: Instant): boolean {
  return closedAt !== undefined && plus(closedAt, CUT_OFF) <= at
}

function judgeRouter(
  run: ShownRun,
  ranges: readonly Range[],
  certainAt: Instant,
  now: Instant,
): RouterConfirmation {
  const { routerId, name, contactAt, closedAt } = run
  const confirmedAt = firstCovering(run.steps, ranges)
  const common = { routerId, name, contactAt, confirmedAt }
  if (confirmedAt !== undefined) return { ...common, state: 'confirmed', refusesAt: undefined }
  // Lines arrive in order: without the end, a router has received no heartbeat that was sent after it.
  const alone = closedAt === undefined ? certainAt : plus(closedAt, CUT_OFF)
  const refusesAt = alone < certainAt ? alone : certainAt
  const isCutOff = closedAt !== undefined || contactAt < minus(now, ROUTER_SILENT)
  if (doesNotConfirm(run)) return { ...common, state: 'does-not-confirm', refusesAt }
  return { ...common, state: isCutOff ? 'cut-off' : 'waiting', refusesAt }
}

/** An older program, which names no run: D-381. */
export function doesNotConfirm({ run }: Pick<ShownRun, 'run'>): boolean {
  return run.startsWith('~')
}

function firstCovering(steps: readonly Step[], ranges: readonly Range[]): Instant | undefined {
  return steps.find(({ position }) => covers(position, ranges))?.at
}

/** How long a call may wait for confirmations. */
export const LONGEST_WAIT: Duration = seconds(60)
