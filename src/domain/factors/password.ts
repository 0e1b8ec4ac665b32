/**
 * The primary factor username and password. SPEC Primary login; D-12, D-22.
 *
 * Every refusal costs the same work: one hash, whether the name exists or not (R077). Failures in a row lock the
 * password; they are counted in the store, so on every instance together (R079). D-107 for the order.
 */

import type { Secret } from '../../base/secrets/secret.ts'
import type { Clock } from '../../base/time/clock.ts'
import { minutes } from '../../base/time/duration.ts'
import { type Instant, instant, plus, toRfc3339 } from '../../base/time/instant.ts'
import type { Caller, LoginFailureReason } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import { type UpdbAuthenticator, usernameKey } from '../identities/authenticator.ts'
import type { Authenticators, Identities } from '../identities/stores.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { Rules } from '../policies/rules.ts'
import type { Stores } from '../stores.ts'
import type { PasswordHashing } from './hashing.ts'
import { usableIdentity } from './usable-identity.ts'
import type { PrimaryVerdict, Rejected } from './verdict.ts'

export interface PasswordCredentials {
  readonly username: string
  readonly password: Secret
}

export type PasswordFactor = (
  credentials: PasswordCredentials,
  caller: Caller,
) => Promise<PrimaryVerdict>

/** D-22: a lock without an end of its own. The last moment that RFC 3339 can write. */
const UNTIL_UNLOCKED: Instant = instant(Date.UTC(9999, 11, 31, 23, 59, 59, 999))

export function createPasswordFactor(deps: {
  readonly authenticators: Pick<
    Authenticators,
    'findUpdb' | 'replacePasswordHash' | 'clearFailures'
  >
  readonly identities: Pick<Identities, 'find'>
  readonly rules: Pick<Rules, 'policy'>
  readonly recordEvent: RecordEvent
  readonly hashing: PasswordHashing
  readonly clock: Clock
}): PasswordFactor {
  const { authenticators, identities, rules, hashing, clock } = deps

  return async ({ username, password }, caller) => {
    const authenticator = await authenticators.findUpdb(usernameKey(username))
    if (authenticator === undefined) {
      await hashing.verifyNothing(password)
      return { verdict: 'rejected', reason: 'unknown-username', identityId: undefined }
    }
    const { id, identityId, passwordHash, credentialVersion } = authenticator
    const reject = (reason: LoginFailureReason): Rejected => ({
      verdict: 'rejected',
      reason,
      identityId,
    })
    const isRight = await hashing.verify(passwordHash, password)
    // Read after the hash was checked: what counts is the state at the moment of the decision.
    const identity = await identities.find(identityId)
    if (!isRight) {
      const policy = identity && rules.policy(identity.authPolicyId)
      if (policy === undefined) return reject('wrong-password')
      const count = (tx: Stores) => countFailure(tx, authenticator, policy, caller)
      return { ...reject('wrong-password'), count }
    }
    const usable = usableIdentity(identity, (policy) => policy.primary.updb.allowed, deps)
    if ('refusal' in usable) return reject(usable.refusal)
    // One statement asks for the lock and forgets the failures: guesses at the same moment cannot slip past it.
    const isOpen = await authenticators.clearFailures(id, clock.now())
    if (!isOpen) return reject('password-locked')

    if (hashing.isWeak(passwordHash)) {
      const stronger = await hashing.hash(password)
      await authenticators.replacePasswordHash(id, passwordHash, stronger, clock.now())
    }
    return {
      verdict: 'accepted',
      ...usable,
      primary: {
        method: 'password',
        identityId,
        authenticatorId: id,
        credentialVersion,
        certificate: undefined,
        signerId: undefined,
        voidedLogins: usable.identity.voidedLogins,
        at: clock.now(),
      },
    }
  }

  async function countFailure(
    tx: Stores,
    { id: authenticatorId, identityId }: UpdbAuthenticator,
    { primary: { updb } }: AuthPolicy,
    caller: Caller,
  ): Promise<void> {
    const now = clock.now()
    const { maxAttempts, lockoutDurationMinutes } = updb
    const lockUntil =
      lockoutDurationMinutes === 0 ? UNTIL_UNLOCKED : plus(now, minutes(lockoutDurationMinutes))
    const { isLockedNow } = await tx.authenticators.addFailure(
      authenticatorId,
      { maxAttempts, lockUntil },
      now,
    )
    if (!isLockedNow) return
    const details = { authenticatorId, until: toRfc3339(lockUntil) }
    const locked = { type: 'login.locked', identityId, details } as const
    await tx.events.insert(deps.recordEvent(caller, locked))
  }
}
