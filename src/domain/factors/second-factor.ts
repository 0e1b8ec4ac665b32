/**
 * The interface of every second factor that a user proves in a step of their own (D-256, D-262). `Setup` is what a user
 * needs to enroll it: the content of a QR code, the options for a security key.
 */
import type { IdentityId } from '../../base/ids.ts'
import type { AuthQuery } from '../../protocol/auth-query.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { ClockOff } from '../audit/clock-off.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import type { Identity } from '../identities/identity.ts'
import type { Stores } from '../stores.ts'
import type { FactorOwner } from './factor-owner.ts'
import type { Passkey } from './passkey/passkey.ts'
import type { RelyingParty } from './passkey/relying-party.ts'
import type { PasskeyRefusal } from './passkey/verify.ts'
import type { FactorPorts } from './ports.ts'
import type { SecondFactorStores } from './stores.ts'

export interface SecondFactor<Setup = unknown> {
  readonly id: SecondFactorId
  /** An enrolled factor is asked for at every login, whether or not the policy demands it (D-16). */
  isEnrolled(ports: EnrolledPorts, identityId: IdentityId): Promise<boolean>
  /** The same for many identities, in one query. */
  listEnrolled(
    ports: EnrolledPorts,
    identityIds: readonly IdentityId[],
  ): Promise<ReadonlySet<IdentityId>>
  /** What the client learns while the factor is outstanding, and where to send the answer. */
  query(brand: string, where: QueryPlace, isEnrolled: boolean): AuthQuery
  /** Checks an answer. Never touches the auth request or session. */
  check(ports: CheckPorts, prover: Prover, answer: string): Promise<FactorVerdict>
  readonly enrollment: FactorEnrollment<Setup>
}

/**
 * How a factor is enrolled. An enrollment is pending, and visible only to the login or session that started it (D-240),
 * until an answer proves it. The callers decide who may enroll and what it counts for, and record the events.
 */
export interface FactorEnrollment<Setup> {
  /**
   * Replaces a pending enrollment of any owner, but never a verified one (R090). Returns `exists` if the identity can
   * have no further one, and `gone` if it was deleted meanwhile (D-284).
   */
  start(
    ports: EnrollPorts,
    enrollee: Enrollee,
  ): Promise<StartedEnrollment<Setup> | 'exists' | 'gone'>
  /** Returns the verified enrollment, or the pending one of this owner. */
  find(ports: EnrollPorts, enrollee: Enrollee): Promise<FoundEnrollment<Setup> | undefined>
  /** Checks the first answer with what the user has set up. */
  prove(ports: EnrollPorts, prover: Prover, answer: string): Promise<EnrollmentProof>
  /** Keeps a verified enrollment: only a full session can remove it (D-19). */
  cancel(ports: EnrollPorts, prover: Prover): Promise<'cancelled' | 'not-started' | 'verified'>
  /** Removes everything enrolled, pending or verified, with what belongs to it. Returns false if there was nothing. */
  remove(tx: SecondFactorStores, identityId: IdentityId): Promise<boolean>
}

/** The identity whose factor it is, and the login or session that it is proven in. */
export interface Prover {
  readonly identityId: IdentityId
  readonly owner: FactorOwner
  /** For passkeys; missing where there are none (D-430). */
  readonly rp?: RelyingParty | undefined
  /** For the events of an enrollment. */
  readonly caller?: Caller
}

export interface Enrollee extends Pick<Prover, 'owner' | 'rp'> {
  readonly identity: Pick<Identity, 'id' | 'name'>
  /** The host that the user enrolls at, as the authenticator app displays it. */
  readonly hostname: string
}

export interface StartedEnrollment<Setup> {
  readonly id: string
  readonly setup: Setup
  /** R087: shown now and never again. */
  readonly recoveryCodes: readonly string[]
}

export interface FoundEnrollment<Setup> {
  readonly id: string
  /** Only while pending: the secret of a verified enrollment is never shown again (R090). */
  readonly setup: Setup | undefined
}

/** In an OIDC login, or in a legacy session (D-51). */
export type QueryPlace = 'oidc' | 'legacy'

/** Where the factors look up whether they are enrolled. */
export type EnrolledPorts = Pick<SecondFactorStores, 'totpEnrollments' | 'passkeys'>

/** What checking an answer needs. */
export type CheckPorts = SecondFactorStores & Pick<FactorPorts, 'vault' | 'clock'>

export type EnrollPorts = CheckPorts & Pick<FactorPorts, keyof AuditPorts | 'transaction'>

/** What adding and removing factors writes, with the link of a reset that it withdraws (D-375). */
export type ChangeStores = SecondFactorStores & Pick<Stores, 'enrollments' | 'events'>

export type FactorVerdict =
  | {
      readonly verdict: 'matches'
      readonly by: SecondFactorId | 'recovery-code'
      /**
       * Spends the answer and clears the count of guesses. Run it in the transaction that accepts the factor. Returns
       * false if the answer was already spent, or is not one of the recovery codes, which only spending can show. Both
       * are wrong answers, and the caller learns nothing else (R085). The caller holds the identity (D-284).
       */
      take(tx: SecondFactorStores): Promise<boolean>
      /** As for a wrong answer, which it is if it cannot be taken. */
      readonly clock?: ClockOff
    }
  | WrongAnswer
  | { readonly verdict: 'not-enrolled' }
  | Blocked

/** The details are only for the event. */
export interface WrongAnswer {
  readonly verdict: 'wrong'
  /** Another time step has this code (D-325). */
  readonly clock?: ClockOff
  /** The rule that the answer of a passkey broke. */
  readonly passkey?: PasskeyRefusal
}

export type EnrollmentProof =
  | {
      readonly verdict: 'matches'
      /** What is added, if it is one of several. */
      readonly passkey?: Passkey
      /**
       * Returns false if another call was faster, or if the enrollment was replaced or cancelled in the meantime. The
       * caller holds the identity (D-284).
       */
      take(tx: ChangeStores): Promise<boolean>
    }
  | WrongAnswer
  | { readonly verdict: 'not-started' }
  | Blocked

/** D-18: too many wrong answers in a row. Even a correct one is not checked. */
export interface Blocked {
  readonly verdict: 'blocked'
  readonly retryAfterSeconds: number
}
