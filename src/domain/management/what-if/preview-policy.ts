/**
 * What a change of a policy would do, before it is saved: who could no longer sign in, who must set up a second factor,
 * and which sessions would end. D-365.
 *
 * The change itself is made and rolled back, so that it is refused as the real one would be. Then logins and sessions
 * are judged twice, under the rules before and after, by the functions that judge real ones. Identities are read in
 * batches; of a large store the first ones are judged, and the result says so.
 */

import { setImmediate } from 'node:timers/promises'
import type { AuthPolicyId, IdentityId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { demandedChoices, type FactorChoice } from '../../../protocol/factors/second-factors.ts'
import type { Caller } from '../../audit/events.ts'
import type { EnrolledPorts } from '../../factors/second-factor.ts'
import { ALL_SECOND_FACTORS } from '../../factors/second-factors.ts'
import type { Authenticator } from '../../identities/authenticator.ts'
import { type Identity, isDisabled } from '../../identities/identity.ts'
import type { PrimaryMethod } from '../../identities/primary-methods.ts'
import { allOf, compares, equals, isAmong } from '../../lists/filters.ts'
import type { Filter } from '../../lists/list-query.ts'
import { isSecondaryWithdrawn } from '../../login/again/check-finished.ts'
import { type ProofRefusal, refuseProof } from '../../login/again/refuse-proof.ts'
import { BATCH_ROWS } from '../../paging.ts'
import type { AuthPolicy } from '../../policies/auth-policy.ts'
import { changeRules } from '../../policies/change-rules.ts'
import { demandsOf } from '../../policies/demands-of.ts'
import type { PolicyPorts } from '../../policies/ports.ts'
import type { Rules } from '../../policies/rules.ts'
import type { ApiSession } from '../../sessions/api-session.ts'
import type { Stores } from '../../stores.ts'
import {
  type NewAuthPolicy,
  type PlannedPolicy,
  planChange,
  replacePolicy,
} from '../manage-policies.ts'
import { judgeSession, type SessionRefusal } from './judge-sessions.ts'
import { claimingCas, type Registered, waysToSignIn } from './ways-to-sign-in.ts'

/** D-365: how many identities one preview judges, and how many rows each of its lists has. */
const MOST_JUDGED = 20_000
const MOST_LISTED = 100

export interface PolicyPreview {
  readonly policy: AuthPolicy
  readonly changed: readonly string[]
  /** Why saving would be refused; undefined if it would not be. */
  readonly refusal: 'LAST_ADMINISTRATOR' | undefined
  /** With this policy, and how many of them were judged. */
  readonly identities: { readonly total: number; readonly judged: number }
  /** Those that can sign in now and could not afterwards. */
  readonly lockedOut: Affected<LockedOut>
  /** Those that cannot sign in now either. */
  readonly alreadyUnable: number
  /** Those that would be asked at their next login to set up a second factor. */
  readonly mustEnroll: Affected<Named>
  readonly sessions: {
    readonly live: number
    readonly ending: Affected<EndingSession>
    /** Legacy sessions that would be refused until they prove a further factor. */
    readonly restricted: number
  }
}

/** The first rows of a list, and how many it has. */
export interface Affected<Row> {
  readonly count: number
  readonly rows: readonly Row[]
}

export type Named = Pick<Identity, 'id' | 'name' | 'isAdmin'>

export interface LockedOut extends Named {
  readonly because: readonly { readonly method: PrimaryMethod; readonly reason: ProofRefusal }[]
}

export interface EndingSession extends Pick<ApiSession, 'id' | 'kind' | 'createdAt'> {
  readonly identity: Pick<Identity, 'id' | 'name'>
  readonly reason: SessionRefusal
}

export type WhatIfPorts = PolicyPorts &
  EnrolledPorts &
  Pick<Stores, 'identities' | 'authenticators' | 'apiSessions'>

/** Throws NOT_FOUND, COULD_NOT_VALIDATE and ENTITY_NAME_IN_USE, as the change would. */
export async function previewPolicy(
  ports: WhatIfPorts,
  id: AuthPolicyId,
  change: (current: AuthPolicy) => NewAuthPolicy,
  caller: Caller,
): Promise<PolicyPreview> {
  const { planned, refusal } = await rehearse(ports, id, change, caller)
  await ports.rules.refresh()
  const tally = new Tally()
  const judge = createJudge(ports, planned)
  let judged = 0
  let total = 0
  for (let after: IdentityId | undefined; judged < MOST_JUDGED; ) {
    const page = await ports.identities.list({
      filter: withPolicy(id, after),
      orders: [{ field: 'id', direction: 'asc' }],
      limit: BATCH_ROWS,
      offset: 0,
    })
    if (after === undefined) total = page.totalCount
    await judge(page.rows, tally)
    // On SQLite no step waits for anything: let other calls have their turn.
    await setImmediate()
    judged += page.rows.length
    after = page.rows.at(-1)?.id
    if (page.rows.length < BATCH_ROWS) break
  }
  const { current, next, changed } = planned
  return {
    policy: { ...next, updatedAt: current.updatedAt },
    changed,
    refusal,
    identities: { total, judged },
    ...tally,
  }
}

/** Ends a transaction that is made only to see whether it would be refused. */
class RolledBack extends Error {}

async function rehearse(
  ports: PolicyPorts,
  id: AuthPolicyId,
  change: (current: AuthPolicy) => NewAuthPolicy,
  caller: Caller,
): Promise<{
  readonly planned: PlannedPolicy
  readonly refusal: 'LAST_ADMINISTRATOR' | undefined
}> {
  let planned: PlannedPolicy | undefined
  try {
    return await changeRules(ports, async (tx) => {
      planned = await planChange(tx, id, change, ports.clock.now())
      await replacePolicy(ports, tx, planned, caller)
      throw new RolledBack()
    })
  } catch (error) {
    if (planned !== undefined && error instanceof RolledBack) {
      return { planned, refusal: undefined }
    }
    const isLast = error instanceof Failure && error.code === 'LAST_ADMINISTRATOR'
    if (planned !== undefined && isLast) return { planned, refusal: 'LAST_ADMINISTRATOR' }
    throw error
  }
}

function withPolicy(id: AuthPolicyId, after: IdentityId | undefined): Filter {
  const hasPolicy = equals('authPolicyId', id)
  return after === undefined ? hasPolicy : allOf(hasPolicy, compares('id', '>', after))
}

type JudgedRules = Pick<
  Rules,
  'policy' | 'demands' | 'signer' | 'signers' | 'ca' | 'cas' | 'isStale'
>

/** The rules as they are, but with this version of the policy. */
function rulesWith(rules: Rules, policy: AuthPolicy): JudgedRules {
  const demands = demandsOf(policy, rules.signers(), rules.cas())
  return {
    ...rules,
    policy: (id) => (id === policy.id ? policy : rules.policy(id)),
    demands: (id) => (id === policy.id ? demands : rules.demands(id)),
  }
}

class Counted<Row> implements Affected<Row> {
  readonly rows: Row[] = []
  count = 0

  add(row: Row): void {
    this.count += 1
    if (this.rows.length < MOST_LISTED) this.rows.push(row)
  }
}

class Tally {
  readonly lockedOut = new Counted<LockedOut>()
  alreadyUnable = 0
  readonly mustEnroll = new Counted<Named>()
  readonly sessions = { live: 0, ending: new Counted<EndingSession>(), restricted: 0 }
}

function createJudge(ports: WhatIfPorts, { current, next }: PlannedPolicy) {
  const now = ports.clock.now()
  const before = rulesWith(ports.rules, current)
  const after = rulesWith(ports.rules, next)
  const surroundings = { rules: ports.rules, cas: claimingCas(ports.rules), now }
  const isSame = (one: FactorChoice, other: FactorChoice) => one.join() === other.join()
  const added = demandedChoices(next.secondary).filter(
    (choice) => !demandedChoices(current.secondary).some((known) => isSame(known, choice)),
  )

  async function judgeLogin(
    identity: Identity,
    registered: Registered,
    tally: Tally,
  ): Promise<boolean> {
    const ways = await waysToSignIn(identity, registered, surroundings)
    const refusalIn = (rules: JudgedRules, policy: AuthPolicy) => (way: (typeof ways)[number]) =>
      refuseProof(way, policy, rules, now) ??
      (isSecondaryWithdrawn(policy, rules) ? ('signer-disabled' as const) : undefined)
    const worked = ways.filter((way) => refusalIn(before, current)(way) === undefined)
    if (worked.length === 0) {
      tally.alreadyUnable += 1
      return false
    }
    const refused = worked.flatMap((way) => {
      const reason = refusalIn(after, next)(way)
      return reason === undefined ? [] : [{ method: way.method, reason }]
    })
    if (refused.length < worked.length) return true
    const because = refused.filter(
      ({ method, reason }, at) =>
        refused.findIndex((one) => one.method === method && one.reason === reason) === at,
    )
    tally.lockedOut.add({ ...named(identity), because })
    return false
  }

  async function judgeSessions(
    identities: ReadonlyMap<IdentityId, Identity>,
    authenticators: readonly Authenticator[],
    tally: Tally,
  ): Promise<void> {
    const stores = {
      clock: ports.clock,
      identities: { find: async (id: IdentityId) => identities.get(id) },
      passkeys: ports.passkeys,
      authenticators: {
        find: async (id: string) => authenticators.find((one) => one.id === id),
        listOf: async (id: IdentityId) => authenticators.filter((one) => one.identityId === id),
      },
    }
    for await (const session of liveSessions(ports, [...identities.keys()], now)) {
      tally.sessions.live += 1
      const was = await judgeSession({ ...stores, rules: before }, session)
      const will = await judgeSession({ ...stores, rules: after }, session)
      if (was.effect === 'ends' || will.effect === was.effect) continue
      if (will.effect === 'restricted') tally.sessions.restricted += 1
      const identity = identities.get(session.identityId)
      if (will.effect !== 'ends' || identity === undefined) continue
      const { id, kind, createdAt } = session
      const owner = { id: identity.id, name: identity.name }
      tally.sessions.ending.add({ id, kind, createdAt, identity: owner, reason: will.reason })
    }
  }

  return async (batch: readonly Identity[], tally: Tally): Promise<void> => {
    const ids = batch.map(({ id }) => id)
    const authenticators = ids.length === 0 ? [] : await ports.authenticators.listOfMany(ids)
    const withPasskey = await ports.passkeys.listEnrolled(ids)
    const byOwner = Map.groupBy(authenticators, ({ identityId }) => identityId)
    // For each new demand, who could meet it now.
    const lists = await Promise.all(
      added.map(async (choice) => {
        const able = ALL_SECOND_FACTORS.filter(({ id }) => choice.includes(id))
        const sets = await Promise.all(able.map(({ listEnrolled }) => listEnrolled(ports, ids)))
        return new Set(sets.flatMap((set) => [...set]))
      }),
    )
    for (const identity of batch) {
      if (isDisabled(identity, now)) {
        tally.alreadyUnable += 1
        continue
      }
      const registered = {
        authenticators: byOwner.get(identity.id) ?? [],
        hasPasskey: withPasskey.has(identity.id),
      }
      const canSignIn = await judgeLogin(identity, registered, tally)
      if (canSignIn && lists.some((enrolled) => !enrolled.has(identity.id))) {
        tally.mustEnroll.add(named(identity))
      }
    }
    const identities = new Map(batch.map((identity) => [identity.id, identity]))
    await judgeSessions(identities, authenticators, tally)
  }
}

function named({ id, name, isAdmin }: Identity): Named {
  return { id, name, isAdmin }
}

async function* liveSessions(
  { apiSessions }: Pick<Stores, 'apiSessions'>,
  identityIds: readonly IdentityId[],
  at: Instant,
): AsyncGenerator<ApiSession> {
  if (identityIds.length === 0) return
  const owned = isAmong('identityId', identityIds)
  for (let offset = 0; ; offset += BATCH_ROWS) {
    const orders = [{ field: 'id', direction: 'asc' }] as const
    const query = { filter: owned, orders, limit: BATCH_ROWS, offset }
    const { rows } = await apiSessions.list({ of: undefined, at }, query)
    yield* rows
    if (rows.length < BATCH_ROWS) return
  }
}
