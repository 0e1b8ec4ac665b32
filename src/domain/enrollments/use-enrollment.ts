/**
 * Turns the token of an enrollment into an authenticator. The token is checked first, so that nothing is signed or
 * hashed for an anonymous caller, and spent in the transaction that stores the authenticator. API 3.2; D-127. A refusal
 * spends nothing. An invalid token counts against its address (D-22).
 */

import { type AuthenticatorId, type IdentityId, newId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { Failure, type FailureCode } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import type { EnrollmentRefusalReason } from '../audit/reasons.ts'
import { record } from '../audit/record.ts'
import type { CertAuthenticator, UpdbAuthenticator } from '../identities/authenticator.ts'
import { type Identity, isDisabled } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { refuseConflict } from '../refusals.ts'
import type { Stores } from '../stores.ts'
import {
  type Enrollment,
  type EnrollmentMethod,
  enrollmentTokenHash,
  type FirstMethod,
  isReset,
} from './enrollment.ts'
import type { EnrollmentPorts } from './ports.ts'
import type { OpenedBy } from './stores.ts'

/** The credential that the identity can log in with from now on. */
export type NewCredential =
  | Pick<UpdbAuthenticator, 'method' | 'username' | 'passwordHash' | 'lockedUntil'>
  | Pick<CertAuthenticator, 'method' | 'certPem' | 'fingerprint' | 'isIssuedByNetwork'>

export interface Shown<Method extends EnrollmentMethod> {
  readonly token: Secret
  readonly method: Method
  readonly caller: Caller
}

/** `link`: of any method, as the page of the link finds it (D-376). */
interface Sought<Method extends EnrollmentMethod> extends Omit<Shown<Method>, 'method'> {
  readonly method: Method | 'link'
}

type Refused = Exclude<OpenedBy<EnrollmentMethod>['state'], 'open'> | 'disabled'

/** D-127: each has a code of its own. */
const REFUSALS: Record<Refused, { code: FailureCode; reason: EnrollmentRefusalReason }> = {
  unknown: { code: 'INVALID_ENROLLMENT_TOKEN', reason: 'token-unknown' },
  expired: { code: 'ENROLLMENT_EXPIRED', reason: 'token-expired' },
  used: { code: 'ENROLLMENT_USED', reason: 'token-used' },
  disabled: { code: 'FORBIDDEN', reason: 'identity-disabled' },
}

/**
 * Finds the enrollment that the token opens, and spends nothing. Throws INVALID_ENROLLMENT_TOKEN, ENROLLMENT_EXPIRED,
 * ENROLLMENT_USED, FORBIDDEN, RATE_LIMITED.
 */
export function findEnrollment<Method extends EnrollmentMethod>(
  ports: EnrollmentPorts,
  shown: Sought<Method>,
): Promise<{
  readonly enrollment: Extract<Enrollment, { readonly method: Method }>
  readonly identity: Identity
}> {
  const { enrollments, identities, enrollmentFailures, vault, clock } = ports
  return enrollmentFailures.guard(shown.caller.address, async (fail) => {
    const now = clock.now()
    const hash = enrollmentTokenHash(vault, shown.token)
    const { method } = shown
    const wanted = method === 'link' ? undefined : method
    const token = await enrollments.findByToken<Method>(hash, wanted, now)
    if (token.state !== 'open') {
      fail()
      return refuse(ports, token, shown)
    }
    const { enrollment } = token
    const identity = await identities.find(enrollment.identityId)
    if (identity === undefined) return refuse(ports, { state: 'unknown' }, shown)
    const { id: identityId } = identity
    // A caller with the right token of a disabled identity is not guessing.
    if (isDisabled(identity, now)) return refuse(ports, { state: 'disabled', identityId }, shown)
    return { enrollment, identity }
  })
}

/** The policy of an identity that enrolls, for its new password. */
export async function policyOf(
  { authPolicies }: Pick<EnrollmentPorts, 'authPolicies'>,
  { authPolicyId }: Pick<Identity, 'authPolicyId'>,
): Promise<AuthPolicy> {
  const policy = await authPolicies.find(authPolicyId)
  if (policy === undefined) throw new Error('an identity has a policy that does not exist')
  return policy
}

/**
 * Spends the token and stores the credential; of several calls at once, one succeeds. Throws what `findEnrollment`
 * throws, and MAX_AUTHENTICATOR_METHODS_REACHED, ENTITY_NAME_IN_USE, CERT_IN_USE, and what `check` throws.
 */
export async function takeEnrollment(
  ports: EnrollmentPorts,
  shown: Shown<FirstMethod>,
  identityId: IdentityId,
  credential: NewCredential,
  check: (tx: Stores) => Promise<unknown> = async () => {},
): Promise<void> {
  await spendEnrollment(ports, shown, identityId, async (tx) => {
    await check(tx)
    await addAuthenticatorWithin(ports, tx, { ...credential, identityId, tags: {} }, shown.caller)
  })
}

/** Throws MAX_AUTHENTICATOR_METHODS_REACHED, ENTITY_NAME_IN_USE, CERT_IN_USE. */
export async function addAuthenticatorWithin(
  ports: AuditPorts,
  tx: Pick<Stores, 'authenticators' | 'events'>,
  credential: NewCredential & Pick<UpdbAuthenticator, 'identityId' | 'tags'>,
  caller: Caller,
): Promise<AuthenticatorId> {
  const { identityId } = credential
  const now = ports.clock.now()
  const id = newId<AuthenticatorId>(ports.random)
  const made = { ...credential, id, createdAt: now, updatedAt: now }
  refuseConflict(await tx.authenticators.insert(made))
  await record(ports, tx, caller, { type: 'authenticator.created', identityId, details: { id } })
  return id
}

/**
 * Spends the token together with what `use` writes, or neither; of several calls at once, one succeeds. Throws what
 * `findEnrollment` throws.
 */
export async function spendEnrollment<Method extends EnrollmentMethod>(
  ports: EnrollmentPorts,
  shown: Shown<Method>,
  identityId: IdentityId,
  use: (tx: Stores, enrollment: Extract<Enrollment, { readonly method: Method }>) => Promise<void>,
): Promise<void> {
  const { method, caller } = shown
  const { transaction, vault, clock } = ports
  const hash = enrollmentTokenHash(vault, shown.token)
  const now = clock.now()
  const outcome = await transaction(async (tx) => {
    // Lock the identity before the enrollment, in the same order as its removal, to avoid a deadlock.
    const identity = await tx.identities.hold(identityId)
    if (identity === undefined) return { state: 'unknown' } as const
    if (isDisabled(identity, now)) return { state: 'disabled', identityId } as const
    const taken = await tx.enrollments.take(hash, method, now)
    if (taken.state !== 'open') return taken
    const { enrollment } = taken
    const { id } = enrollment
    const details = isReset(enrollment) ? { id, method: enrollment.method } : { id }
    await record(ports, tx, caller, { type: 'enrollment.used', identityId, details })
    // An error thrown here also undoes the spending of the token.
    await use(tx, enrollment)
    return taken
  })
  if (outcome.state !== 'open') return refuse(ports, outcome, shown)
}

async function refuse(
  ports: EnrollmentPorts,
  refused: { readonly state: Refused; readonly identityId?: IdentityId },
  { method, caller }: Sought<EnrollmentMethod>,
): Promise<never> {
  const { code, reason } = REFUSALS[refused.state]
  const { identityId } = refused
  const details = { method }
  const happening = { type: 'enrollment.refused', identityId, reason, details } as const
  await ports.transaction((tx) => record(ports, tx, caller, happening))
  throw new Failure(code, { detail: reason })
}
