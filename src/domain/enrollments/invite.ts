/**
 * Creates an enrollment for an identity: its token, the JWT that carries it, and the row, which has only the hash. API
 * 4.3; D-125. It takes two steps, because nothing is signed inside a transaction. A caller that does more with it
 * (creates an identity, removes an authenticator) does both in one transaction.
 */

import { utf8 } from '../../base/encoding.ts'
import { type CaId, type EnrollmentId, type IdentityId, newId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { type Duration, days } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { record } from '../audit/record.ts'
import type { EnrolledPorts } from '../factors/second-factor.ts'
import { withdrawResetWithin } from '../factors/withdraw-reset.ts'
import { refuseLongUsername, usernameKey } from '../identities/authenticator.ts'
import type { Tags } from '../identities/identity.ts'
import { inUse, invalid, refuseConflict } from '../refusals.ts'
import type { Stores } from '../stores.ts'
import {
  authenticatorMethodOf,
  type Enrollment,
  type EnrollmentKind,
  enrollmentTokenHash,
  isReset,
  newEnrollmentToken,
} from './enrollment.ts'
import { signEnrollmentJwt } from './enrollment-jwt.ts'
import { invitationLink } from './links/link.ts'
import { refuseReset } from './links/resets.ts'
import type { EnrollmentPorts } from './ports.ts'

/** Token and JWT are shown once and not stored, except for D-317. */
export interface Invitation {
  readonly enrollment: Enrollment
  readonly token: Secret
  /** Undefined if this instance cannot sign one (D-126), and for a reset, which clients do not know (D-375). */
  readonly jwt: Secret | undefined
  /** Undefined if this instance has no listener with the pages (D-376). */
  readonly link: Secret | undefined
}

export type WantedEnrollment = EnrollmentKind & {
  readonly identityId: IdentityId
  readonly tags: Tags
  /** Undefined: expires after the configured time. */
  readonly expiresAt: Instant | undefined
}

type InviteStores = EnrolledPorts &
  Pick<Stores, 'identities' | 'authenticators' | 'enrollments' | 'cas' | 'events'>

/** D-125: a token that is valid for longer is like a password that is never changed. */
const LONGEST: Duration = days(365)

/** Call it before the transaction. Throws COULD_NOT_VALIDATE. */
export async function prepareInvitation(
  ports: EnrollmentPorts,
  { expiresAt, ...wanted }: WantedEnrollment,
): Promise<Invitation> {
  if (wanted.method === 'updb') refuseLongUsername(wanted.username)
  const now = ports.clock.now()
  const id = newId<EnrollmentId>(ports.random)
  const made = { id, usedAt: undefined, sealedJwt: undefined, createdAt: now, updatedAt: now }
  return withToken(ports, (token) => ({ ...wanted, ...made, ...token }), expiresAt)
}

/** Prepares another token for the same enrollment. Call it before the transaction. */
export function prepareAgain(
  ports: EnrollmentPorts,
  enrollment: Enrollment,
  expiresAt: Instant | undefined,
): Promise<Invitation> {
  return withToken(ports, (token) => ({ ...enrollment, ...token }), expiresAt)
}

/**
 * Stores the enrollment with its event. Throws, without storing anything: COULD_NOT_VALIDATE, ENROLLMENT_EXISTS,
 * MAX_AUTHENTICATOR_METHODS_REACHED, ENTITY_NAME_IN_USE.
 */
export async function insertEnrollmentWithin(
  ports: AuditPorts,
  tx: InviteStores,
  enrollment: Enrollment,
  caller: Caller,
): Promise<void> {
  const { id, identityId, method } = enrollment
  // Lock the identity, so that two concurrent invitations, or an invitation and an authenticator, see each other.
  if ((await tx.identities.hold(identityId)) === undefined) {
    throw invalid('identityId', 'names an identity that does not exist')
  }
  const own = await tx.authenticators.listOf(identityId)
  if (isReset(enrollment)) {
    await refuseReset(tx, enrollment, own)
    // Another link replaces the one that was lost, so that only the newest works.
    await withdrawResetWithin(ports, tx, enrollment, caller)
  } else if (own.some((one) => one.method === authenticatorMethodOf(enrollment.method))) {
    throw new Failure('MAX_AUTHENTICATOR_METHODS_REACHED')
  }
  if (enrollment.method === 'updb') {
    const key = usernameKey(enrollment.username)
    if ((await tx.authenticators.findUpdb(key)) !== undefined) throw inUse('username')
  }
  if (enrollment.method === 'ottca') await refuseCa(tx, enrollment.caId)

  for (const gone of await tx.enrollments.removeExpiredLike(enrollment, ports.clock.now())) {
    const deleted = { type: 'enrollment.deleted', identityId: gone.identityId } as const
    await record(ports, tx, caller, { ...deleted, details: { id: gone.id } })
  }
  refuseConflict(await tx.enrollments.insert(enrollment))
  const details = isReset(enrollment) ? { id, method } : { id }
  await record(ports, tx, caller, { type: 'enrollment.created', identityId, details })
}

function endOf(
  { clock, enrollmentDuration }: Pick<EnrollmentPorts, 'clock' | 'enrollmentDuration'>,
  wanted: Instant | undefined,
): Instant {
  const now = clock.now()
  if (wanted === undefined) return plus(now, enrollmentDuration)
  if (wanted <= now) throw invalid('expiresAt', 'must be in the future')
  if (wanted > plus(now, LONGEST)) throw invalid('expiresAt', 'must be within a year')
  return wanted
}

async function withToken(
  ports: EnrollmentPorts,
  finish: (token: Pick<Enrollment, 'tokenHash' | 'expiresAt'>) => Enrollment,
  wanted: Instant | undefined,
): Promise<Invitation> {
  const token = newEnrollmentToken(ports.random)
  const expiresAt = endOf(ports, wanted)
  const enrollment = finish({ tokenHash: enrollmentTokenHash(ports.vault, token), expiresAt })
  const { method, identityId } = enrollment
  const link = invitationLink(ports, token)
  const jwt = isReset(enrollment)
    ? undefined
    : await signEnrollmentJwt(ports, { method, identityId, token, expiresAt })
  if (jwt === undefined || !ports.keepsEnrollmentJwt) {
    return { enrollment: { ...enrollment, sealedJwt: undefined }, token, jwt, link }
  }
  const sealedJwt = ports.vault.seal('enrollment-jwt', utf8(jwt.reveal()), enrollment.id)
  return { enrollment: { ...enrollment, sealedJwt }, token, jwt, link }
}

async function refuseCa(tx: Pick<Stores, 'cas'>, caId: CaId): Promise<void> {
  const ca = await tx.cas.find(caId)
  if (ca === undefined) throw invalid('caId', 'names a CA that does not exist')
  if (ca.isVerified && ca.isOttCaEnrollmentEnabled) return
  throw invalid('caId', 'names a CA that is not verified, or that has no enrollment by token')
}
