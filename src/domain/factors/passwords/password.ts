/**
 * Username and password as the primary factor. SPEC Primary login; D-12, D-22.
 *
 * Every refusal costs the same work: one hash and the same number of statements, whether the name exists or not, and
 * whether the password was right (R077). Consecutive failures lock their origin out; the store counts them, so all
 * instances share the count (R079). D-107 for the order.
 */

import type { AuthenticatorId, IdentityId } from '../../../base/ids.ts'
import type { Secret } from '../../../base/secrets/secret.ts'
import { toRfc3339 } from '../../../base/time/instant.ts'
import type { Caller } from '../../audit/events.ts'
import type { AuditPorts } from '../../audit/ports.ts'
import type { LoginFailureReason } from '../../audit/reasons.ts'
import { record } from '../../audit/record.ts'
import { type UpdbAuthenticator, usernameKey } from '../../identities/authenticator.ts'
import { type AuthPolicy, POLICY_DEFAULTS } from '../../policies/auth-policy.ts'
import type { Stores } from '../../stores.ts'
import type { Guess } from '../guessing/guess-order.ts'
import { lockRule } from '../guessing/lock-rule.ts'
import type { FactorPorts } from '../ports.ts'
import type { GuessOrigin } from '../stores.ts'
import { usableIdentity } from '../usable-identity.ts'
import { accepted, type PrimaryVerdict, rejected } from '../verdict.ts'

export interface PasswordCredentials {
  readonly username: string
  readonly password: Secret
}

/** Ids that no password and no identity has. */
const NO_PASSWORD = '' as AuthenticatorId
const NO_IDENTITY = '' as IdentityId

export interface PasswordAttempt {
  readonly caller: Caller
  readonly origin: GuessOrigin
  readonly guess: Pick<Guess, 'earlier'>
}

export async function proveByPassword(
  ports: Pick<
    FactorPorts,
    keyof AuditPorts | 'authenticators' | 'passwordFailures' | 'identities' | 'rules' | 'hashing'
  >,
  { username, password }: PasswordCredentials,
  { caller, origin, guess }: PasswordAttempt,
): Promise<PrimaryVerdict> {
  const { authenticators, identities, passwordFailures, rules, hashing, clock } = ports
  const line = lineOf(origin, username)
  const count = (tx: Stores) => countNothing(ports, tx, origin)
  // R077: a network that is locked out would know the right password by the time of these reads.
  const readNoLock = () => passwordFailures.clear(NO_PASSWORD, origin, clock.now())
  const authenticator = await authenticators.findUpdb(usernameKey(username))
  if (authenticator === undefined) {
    await hashing.verifyNothing(password, line)
    // R077: skipping this look-up would reveal by its time that the name does not exist.
    await identities.find(NO_IDENTITY)
    await readNoLock()
    return { ...rejected('unknown-username'), count }
  }
  const { id, identityId, passwordHash, credentialVersion } = authenticator
  const reject = (reason: LoginFailureReason) => ({ ...rejected(reason, identityId), count })
  const isRight = await hashing.verify(passwordHash, password, line)
  // Read after the hash was checked, so that the decision uses the current state.
  const identity = await identities.find(identityId)
  if (!isRight) {
    await readNoLock()
    const policy = identity && rules.policy(identity.authPolicyId)
    if (policy === undefined) return reject('wrong-password')
    const attempt = { caller, origin }
    const counted = (tx: Stores) => countFailure(ports, tx, authenticator, policy, attempt)
    return { ...reject('wrong-password'), count: counted }
  }
  const usable = usableIdentity(identity, (policy) => policy.primary.updb.allowed, ports)
  if ('refusal' in usable) {
    await readNoLock()
    return reject(usable.refusal)
  }
  await guess.earlier
  // One transaction checks the lock and clears the failures, so that parallel guesses cannot get past it.
  const isOpen = await passwordFailures.clear(id, origin, clock.now())
  if (!isOpen) return reject('password-locked')

  if (hashing.isWeak(passwordHash)) {
    const stronger = await hashing.hash(password)
    await authenticators.replacePasswordHash(id, passwordHash, stronger, clock.now())
  }
  const proof = { method: 'password', authenticatorId: id, credentialVersion } as const
  return accepted(usable, proof, clock.now())
}

/** R077: a guess that is not counted takes as long as one that is. */
async function countNothing(
  { clock }: AuditPorts,
  tx: Stores,
  { network }: GuessOrigin,
): Promise<void> {
  const now = clock.now()
  const rule = lockRule(POLICY_DEFAULTS, now)
  await tx.passwordFailures.add(NO_PASSWORD, { network, device: undefined }, rule, now)
  await recordNoLock(tx)
}

/** R077: the attempt that locks has one event more, and would reveal by its time that the name exists. */
async function recordNoLock(tx: Pick<Stores, 'identities'>): Promise<void> {
  await tx.identities.find(NO_IDENTITY)
}

async function countFailure(
  audit: AuditPorts,
  tx: Stores,
  { id: authenticatorId, identityId }: UpdbAuthenticator,
  policy: AuthPolicy,
  { caller, origin }: Pick<PasswordAttempt, 'caller' | 'origin'>,
): Promise<void> {
  const now = audit.clock.now()
  const rule = lockRule(policy.primary.updb, now)
  const { lockedUntil } = await tx.passwordFailures.add(authenticatorId, origin, rule, now)
  if (lockedUntil === undefined) return recordNoLock(tx)
  const details = { authenticatorId, until: toRfc3339(lockedUntil) }
  await record(audit, tx, caller, { type: 'login.locked', identityId, details })
}

/**
 * The line in which a hash waits (D-215). All known devices of one name share a line: each correct password makes
 * another device known, so with a line for each device, one account could take the turns of all others.
 */
function lineOf({ network, device }: GuessOrigin, username: string): string {
  return device === undefined ? network : `known ${usernameKey(username)}`
}
