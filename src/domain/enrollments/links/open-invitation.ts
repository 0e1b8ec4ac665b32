/**
 * What the page of a link shows before anything happens (D-376). It spends nothing, so that a program that opens links
 * to preview them, or a second look at the page, does not use the link up. An unknown token counts against its address,
 * as on the API (D-22).
 */
import type { Secret } from '../../../base/secrets/secret.ts'
import type { Caller } from '../../audit/events.ts'
import type { Identity } from '../../identities/identity.ts'
import type { AuthPolicy } from '../../policies/auth-policy.ts'
import { orNotFound } from '../../refusals.ts'
import { type Enrollment, isReset } from '../enrollment.ts'
import { signEnrollmentJwt } from '../enrollment-jwt.ts'
import type { EnrollmentPorts } from '../ports.ts'
import { findEnrollment, policyOf } from '../use-enrollment.ts'

export interface OpenedInvitation {
  readonly enrollment: Enrollment
  readonly identity: Identity
  readonly policy: AuthPolicy
  /** The username of the password that is chosen, or reset; undefined if there is none. */
  readonly username: string | undefined
}

/** Throws INVALID_ENROLLMENT_TOKEN, ENROLLMENT_EXPIRED, ENROLLMENT_USED, FORBIDDEN, RATE_LIMITED. */
export async function openInvitation(
  ports: EnrollmentPorts,
  token: Secret,
  caller: Caller,
): Promise<OpenedInvitation> {
  const { enrollment, identity } = await findEnrollment(ports, { token, method: 'link', caller })
  const policy = await policyOf(ports, identity)
  return { enrollment, identity, policy, username: await usernameFor(ports, enrollment) }
}

/** The JWT of the invitation, for a client program. Throws NOT_FOUND if there is none (D-126, D-375). */
export async function invitationJwt(
  ports: EnrollmentPorts,
  token: Secret,
  caller: Caller,
): Promise<Secret> {
  const { enrollment } = await openInvitation(ports, token, caller)
  const { method, identityId, expiresAt } = enrollment
  const jwt = isReset(enrollment)
    ? undefined
    : await signEnrollmentJwt(ports, { method, identityId, token, expiresAt })
  return orNotFound(jwt)
}

async function usernameFor(
  { authenticators }: Pick<EnrollmentPorts, 'authenticators'>,
  enrollment: Enrollment,
): Promise<string | undefined> {
  if (enrollment.method === 'updb') return enrollment.username
  if (!isReset(enrollment)) return undefined
  const own = await authenticators.listOf(enrollment.identityId)
  return own.find((one) => one.method === 'updb')?.username
}
