/**
 * What an administrator does to the passwords and certificates of identities. API 3.3, 4.2; D-34, D-49. A password
 * is hashed before the transaction begins: nobody waits for argon2 with the database in his hands.
 */

import { type AuthenticatorId, type IdentityId, newId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Clock } from '../../base/time/clock.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { HashNewPassword } from '../factors/new-password.ts'
import { inUse, invalid, notFound } from '../refusals.ts'
import type { EndSessionsWithin } from '../sessions/ending/end-session.ts'
import type { Stores, Transaction } from '../stores.ts'
import { type Authenticator, type FreshAuthenticator, refuseLongUsername } from './authenticator.ts'
import type { Tags } from './identity.ts'
import { keepAdministrator } from './last-administrator.ts'
import { registeredCertificate } from './registered-certificate.ts'

export type NewAuthenticator = { readonly identityId: IdentityId; readonly tags: Tags } & (
  | { readonly method: 'updb'; readonly username: string; readonly password: Secret }
  | { readonly method: 'cert'; readonly certPem: string }
)

/** All of them throw NOT_FOUND for an id that nothing has. */
export interface ManageAuthenticators {
  create(authenticator: NewAuthenticator, caller: Caller): Promise<AuthenticatorId>
  /** Ends the sessions that were begun with it. `also`: what else happens in the same transaction. */
  remove(
    id: AuthenticatorId,
    caller: Caller,
    also?: (tx: Stores, removed: Authenticator) => Promise<void>,
  ): Promise<void>
  /** D-22: forgets the failures and the lock of a password. */
  unlock(id: AuthenticatorId, caller: Caller): Promise<void>
}

const NO_IDENTITY = 'names no identity'

export function createManageAuthenticators(deps: {
  readonly transaction: Transaction
  readonly clock: Clock
  readonly random: Random
  readonly hashNewPassword: HashNewPassword
  readonly recordEvent: RecordEvent
  readonly endSessionsWithin: EndSessionsWithin
  /** Our own root and issuing CAs, in PEM. */
  readonly ownAnchors: () => readonly string[]
}): ManageAuthenticators {
  const {
    transaction,
    clock,
    random,
    hashNewPassword,
    recordEvent,
    endSessionsWithin,
    ownAnchors,
  } = deps

  /** What proves the identity: the hash of the password, or the certificate in our own form. */
  async function credentialOf(input: NewAuthenticator) {
    if (input.method === 'cert')
      return { method: 'cert', ...registeredCertificate(input.certPem, ownAnchors()) } as const
    const { identityId, username, password } = input
    refuseLongUsername(username)
    const { identity, policy } = await transaction(async (tx) => {
      const identity = await tx.identities.find(identityId)
      return { identity, policy: identity && (await tx.authPolicies.find(identity.authPolicyId)) }
    })
    if (identity === undefined || policy === undefined) throw invalid('identityId', NO_IDENTITY)
    const passwordHash = await hashNewPassword(password, { username, identity, policy })
    return { method: 'updb', username, passwordHash, lockedUntil: undefined } as const
  }

  return {
    async create(input, caller) {
      const { identityId, tags } = input
      const credential = await credentialOf(input)
      const now = clock.now()
      const id = newId<AuthenticatorId>(random)
      const authenticator: FreshAuthenticator = {
        ...credential,
        id,
        identityId,
        tags,
        createdAt: now,
        updatedAt: now,
      }
      await transaction(async (tx) => {
        const identity = await tx.identities.hold(identityId)
        if (identity === undefined) throw invalid('identityId', NO_IDENTITY)
        const outcome = await tx.authenticators.insert(authenticator)
        if (outcome === 'method-in-use') throw new Failure('MAX_AUTHENTICATOR_METHODS_REACHED')
        if (outcome === 'username-in-use') throw inUse('username')
        if (outcome === 'certificate-in-use') throw new Failure('CERT_IN_USE')
        const created = { type: 'authenticator.created', identityId, details: { id } } as const
        await tx.events.insert(recordEvent(caller, created))
      })
      return id
    },

    async remove(id, caller, also = async () => {}) {
      const feelEnds = await transaction(async (tx) => {
        const found = await tx.authenticators.find(id)
        const identity = found && (await tx.identities.find(found.identityId))
        if (found === undefined || identity === undefined) throw notFound()
        const { id: identityId } = identity
        const take = async () => {
          // Held as at a login: what is begun with it is there when the sessions are listed, or is not begun.
          await tx.identities.hold(identityId)
          if (!(await tx.authenticators.remove(id))) throw notFound()
          const sessions = await tx.apiSessions.listByAuthenticator(id)
          const ending = { sessions, authenticators: [found] }
          const feel = await endSessionsWithin(tx, ending, 'authenticator-removed', caller)
          const deleted = { type: 'authenticator.deleted', identityId, details: { id } } as const
          await tx.events.insert(recordEvent(caller, deleted))
          await also(tx, found)
          return feel
        }
        if (!identity.isAdmin) return take()
        return keepAdministrator(tx, identityId, { now: clock.now(), caller }, take)
      })
      feelEnds()
    },

    unlock: (id, caller) =>
      transaction(async (tx) => {
        const found = await tx.authenticators.find(id)
        if (found === undefined) throw notFound()
        if (found.method !== 'updb') throw invalid('method', 'only a password can be locked')
        await tx.authenticators.unlock(id)
        const { identityId } = found
        const unlocked = { type: 'authenticator.unlocked', identityId, details: { id } } as const
        await tx.events.insert(recordEvent(caller, unlocked))
      }),
  }
}
