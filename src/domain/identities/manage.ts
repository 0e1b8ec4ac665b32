/**
 * What an administrator does to identities. API 3.3, 4.1; D-34, D-49. Everything that belongs together is one
 * transaction, the audit event with it; sessions end in it, and on this instance at once.
 */

import { type IdentityId, newId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { minutes } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller, SessionEndReason } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import { DEFAULT_POLICY_ID } from '../policies/auth-policy.ts'
import { inUse, invalid, notFound } from '../refusals.ts'
import type { EndSessionsWithin } from '../sessions/ending/end-session.ts'
import type { Stores, Transaction } from '../stores.ts'
import type { ChosenOfIdentity, Identity } from './identity.ts'
import { keepAdministrator } from './last-administrator.ts'

export type NewIdentity = Omit<ChosenOfIdentity, 'authPolicyId'> & {
  /** Undefined: the default one (API 4.1). */
  readonly authPolicyId: Identity['authPolicyId'] | undefined
}

/** All of them throw NOT_FOUND for an id that nobody has. Changes of what is there are in `update-identity.ts`. */
export interface ManageIdentities {
  /** `also`: what else happens in the same transaction, for an id that is known before. */
  create(
    identity: NewIdentity,
    caller: Caller,
    also?: { readonly id: IdentityId; within(tx: Stores): Promise<void> },
  ): Promise<IdentityId>
  /** With its authenticators, its TOTP and its sessions. */
  remove(id: IdentityId, caller: Caller): Promise<void>
  /** Ends all its sessions. For 0 minutes: until somebody enables it. */
  disable(id: IdentityId, durationMinutes: number, caller: Caller): Promise<void>
  enable(id: IdentityId, caller: Caller): Promise<void>
  /** TOTP with its recovery codes, for a lost phone; MFA_NOT_ENROLLED when there is none. */
  removeMfa(id: IdentityId, caller: Caller): Promise<void>
}

export function createManageIdentities(deps: {
  readonly transaction: Transaction
  readonly clock: Clock
  readonly random: Random
  readonly recordEvent: RecordEvent
  readonly endSessionsWithin: EndSessionsWithin
}): ManageIdentities {
  const { transaction, clock, random, recordEvent, endSessionsWithin } = deps

  /** Takes an identity out of service, and everything that it has begun. */
  async function cutOff(
    id: IdentityId,
    reason: Extract<SessionEndReason, 'identity-deleted' | 'identity-disabled'>,
    caller: Caller,
    change: (tx: Stores, identity: Identity) => Promise<unknown>,
  ): Promise<void> {
    const feelEnds = await transaction(async (tx) => {
      const found = await tx.identities.find(id)
      if (found === undefined) throw notFound()
      const cut = async () => {
        // Held: a session that is just being begun is there when they are listed, or is not begun at all.
        const identity = await tx.identities.hold(id)
        if (identity === undefined) throw notFound()
        const sessions = await tx.apiSessions.listOf(id)
        const isGoing = reason === 'identity-deleted'
        const authenticators = isGoing ? await tx.authenticators.listOf(id) : []
        const feel = await endSessionsWithin(tx, { sessions, authenticators }, reason, caller)
        await tx.identities.voidLogins(id)
        await change(tx, identity)
        return feel
      }
      if (!found.isAdmin) return cut()
      return keepAdministrator(tx, id, { now: clock.now(), caller }, cut)
    })
    feelEnds()
  }

  return {
    async create(input, caller, also) {
      const now = clock.now()
      const id = also?.id ?? newId<IdentityId>(random)
      const { authPolicyId = DEFAULT_POLICY_ID } = input
      await transaction(async (tx) => {
        if ((await tx.authPolicies.hold(authPolicyId)) === undefined) {
          throw invalid('authPolicyId', 'names no policy')
        }
        const outcome = await tx.identities.insert({
          ...input,
          id,
          authPolicyId,
          disabledAt: undefined,
          disabledUntil: undefined,
          createdAt: now,
          updatedAt: now,
        })
        if (outcome === 'name-in-use') throw inUse('name')
        if (outcome === 'external-id-in-use') throw inUse('externalId')
        const created = { type: 'identity.created', identityId: id } as const
        await tx.events.insert(recordEvent(caller, created))
        await also?.within(tx)
      })
      return id
    },

    remove: (id, caller) =>
      cutOff(id, 'identity-deleted', caller, async (tx) => {
        await tx.identities.remove(id)
        const deleted = { type: 'identity.deleted', identityId: id } as const
        await tx.events.insert(recordEvent(caller, deleted))
      }),

    disable: (id, durationMinutes, caller) =>
      cutOff(id, 'identity-disabled', caller, async (tx) => {
        const at = clock.now()
        const until = durationMinutes === 0 ? undefined : plus(at, minutes(durationMinutes))
        await tx.identities.replaceDisablement(id, { at, until }, at)
        const disabled = { type: 'identity.disabled', identityId: id } as const
        await tx.events.insert(recordEvent(caller, disabled))
      }),

    enable: (id, caller) =>
      transaction(async (tx) => {
        const identity = await tx.identities.hold(id)
        if (identity === undefined) throw notFound()
        if (identity.disabledAt === undefined) return
        await tx.identities.replaceDisablement(id, undefined, clock.now())
        const enabled = { type: 'identity.enabled', identityId: id } as const
        await tx.events.insert(recordEvent(caller, enabled))
      }),

    removeMfa: (id, caller) =>
      transaction(async (tx) => {
        if ((await tx.identities.hold(id)) === undefined) throw notFound()
        if (!(await tx.totpEnrollments.remove(id))) throw new Failure('MFA_NOT_ENROLLED')
        // Guesses at a secret that is gone: they must not be in the way of the next one.
        await tx.codeGuesses.clear(id)
        const removed = { type: 'mfa.removed', identityId: id } as const
        await tx.events.insert(recordEvent(caller, removed))
      }),
  }
}
