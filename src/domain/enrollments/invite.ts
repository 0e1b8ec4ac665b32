/**
 * Makes an enrollment for an identity: its token, the JWT that carries it, and the row that knows only the hash. API
 * 4.3; D-125. In two steps, because nothing is signed inside a transaction; whoever makes something else with it (an
 * identity, the end of an authenticator) does both in one.
 */

import { type CaId, type EnrollmentId, type IdentityId, newId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, days } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import { refuseLongUsername, usernameKey } from '../identities/authenticator.ts'
import type { Tags } from '../identities/identity.ts'
import { inUse, invalid } from '../refusals.ts'
import type { Stores } from '../stores.ts'
import {
  authenticatorMethodOf,
  type Enrollment,
  type EnrollmentKind,
  enrollmentTokenHash,
  newEnrollmentToken,
} from './enrollment.ts'
import type { SignEnrollmentJwt } from './enrollment-jwt.ts'

/** Token and JWT are shown once and kept by nobody here. */
export interface Invitation {
  readonly enrollment: Enrollment
  readonly token: Secret
  /** Undefined where this instance cannot sign one (D-126). */
  readonly jwt: Secret | undefined
}

export type WantedEnrollment = EnrollmentKind & {
  readonly identityId: IdentityId
  readonly tags: Tags
  /** Undefined: after the configured time. */
  readonly expiresAt: Instant | undefined
}

export interface Invite {
  /** Before the transaction. Thrown: COULD_NOT_VALIDATE. */
  prepare(wanted: WantedEnrollment): Promise<Invitation>
  /** Another token for the same enrollment, also before the transaction. */
  prepareAgain(enrollment: Enrollment, expiresAt: Instant | undefined): Promise<Invitation>
  /**
   * Stores it, with its event. Thrown, and nothing is stored: COULD_NOT_VALIDATE, ENROLLMENT_EXISTS,
   * MAX_AUTHENTICATOR_METHODS_REACHED, ENTITY_NAME_IN_USE.
   */
  insertWithin(tx: InviteStores, enrollment: Enrollment, caller: Caller): Promise<void>
}

type InviteStores = Pick<Stores, 'identities' | 'authenticators' | 'enrollments' | 'cas' | 'events'>

/** D-125: a token that is good for longer is a password that nobody changes. */
const LONGEST: Duration = days(365)

export function createInvite(deps: {
  /** `edge.enrollment.duration`. */
  readonly duration: Duration
  readonly signEnrollmentJwt: SignEnrollmentJwt
  readonly vault: Pick<Vault, 'hash'>
  readonly clock: Clock
  readonly random: Random
  readonly recordEvent: RecordEvent
}): Invite {
  const { clock, random, recordEvent } = deps

  function endOf(wanted: Instant | undefined): Instant {
    const now = clock.now()
    if (wanted === undefined) return plus(now, deps.duration)
    if (wanted <= now) throw invalid('expiresAt', 'must be in the future')
    if (wanted > plus(now, LONGEST)) throw invalid('expiresAt', 'must be within a year')
    return wanted
  }

  async function withToken(
    finish: (token: Pick<Enrollment, 'tokenHash' | 'expiresAt'>) => Enrollment,
    wanted: Instant | undefined,
  ): Promise<Invitation> {
    const token = newEnrollmentToken(random)
    const expiresAt = endOf(wanted)
    const enrollment = finish({ tokenHash: enrollmentTokenHash(deps.vault, token), expiresAt })
    const { method, identityId } = enrollment
    const jwt = await deps.signEnrollmentJwt({ method, identityId, token, expiresAt })
    return { enrollment, token, jwt }
  }

  return {
    prepare({ expiresAt, ...wanted }) {
      if (wanted.method === 'updb') refuseLongUsername(wanted.username)
      const now = clock.now()
      const id = newId<EnrollmentId>(random)
      const made = { id, usedAt: undefined, createdAt: now, updatedAt: now }
      return withToken((token) => ({ ...wanted, ...made, ...token }), expiresAt)
    },

    prepareAgain: (enrollment, expiresAt) =>
      withToken((token) => ({ ...enrollment, ...token }), expiresAt),

    async insertWithin(tx, enrollment, caller) {
      const { id, identityId, method } = enrollment
      // Held: two invitations at once, or an invitation and an authenticator, see each other.
      if ((await tx.identities.hold(identityId)) === undefined) {
        throw invalid('identityId', 'names no identity')
      }
      const own = await tx.authenticators.listOf(identityId)
      if (own.some((one) => one.method === authenticatorMethodOf(method))) {
        throw new Failure('MAX_AUTHENTICATOR_METHODS_REACHED')
      }
      if (enrollment.method === 'updb') {
        const key = usernameKey(enrollment.username)
        if ((await tx.authenticators.findUpdb(key)) !== undefined) throw inUse('username')
      }
      if (enrollment.method === 'ottca') await refuseCa(tx, enrollment.caId)

      for (const gone of await tx.enrollments.removeExpiredLike(enrollment, clock.now())) {
        const deleted = { type: 'enrollment.deleted', identityId: gone.identityId } as const
        await tx.events.insert(recordEvent(caller, { ...deleted, details: { id: gone.id } }))
      }
      const outcome = await tx.enrollments.insert(enrollment)
      if (outcome === 'method-open') throw new Failure('ENROLLMENT_EXISTS')
      if (outcome === 'username-in-use') throw inUse('username')
      const created = { type: 'enrollment.created', identityId, details: { id } } as const
      await tx.events.insert(recordEvent(caller, created))
    },
  }
}

async function refuseCa(tx: Pick<Stores, 'cas'>, caId: CaId): Promise<void> {
  const ca = await tx.cas.find(caId)
  if (ca === undefined) throw invalid('caId', 'names no CA')
  if (ca.isVerified && ca.isOttCaEnrollmentEnabled) return
  throw invalid('caId', 'names a CA that is not verified, or that has no enrollment by token')
}
