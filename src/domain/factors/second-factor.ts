/**
 * The interface of every second factor. Enrollment is not part of it: what a user needs for that differs from factor to
 * factor (for TOTP: `enroll-totp.ts`).
 */
import type { IdentityId } from '../../base/ids.ts'
import type { AuthQuery } from '../../protocol/auth-query.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { ClockOff } from '../audit/clock-off.ts'
import type { Stores } from '../stores.ts'
import type { FactorPorts } from './ports.ts'

export interface SecondFactor {
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
  check(ports: CheckPorts, identityId: IdentityId, answer: string): Promise<FactorVerdict>
}

/** In an OIDC login, or in a legacy session (D-51). */
export type QueryPlace = 'oidc' | 'legacy'

/** Where the factors look up whether they are enrolled. */
export type EnrolledPorts = Pick<FactorPorts, 'totpEnrollments'>

/** What checking an answer needs. */
export type CheckPorts = Pick<FactorPorts, 'vault' | 'clock' | 'totpEnrollments' | 'codeGuesses'>

export type FactorVerdict =
  | {
      readonly verdict: 'matches'
      readonly by: SecondFactorId | 'recovery-code'
      /**
       * Spends the answer and clears the count of guesses. Run it in the transaction that accepts the factor. Returns
       * false if the answer was already spent, or is not one of the recovery codes, which only spending can show. Both
       * are wrong answers, and the caller learns nothing else (R085).
       */
      take(tx: Pick<Stores, 'totpEnrollments' | 'codeGuesses'>): Promise<boolean>
    }
  /** `clock`: another time step has this code (D-325). Only for the event. */
  | { readonly verdict: 'wrong'; readonly clock?: ClockOff }
  | { readonly verdict: 'not-enrolled' }
  | Blocked

/** D-18: too many wrong answers in a row. Even a correct one is not checked. */
export interface Blocked {
  readonly verdict: 'blocked'
  readonly retryAfterSeconds: number
}
