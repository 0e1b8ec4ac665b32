/**
 * What every second factor says about itself. Setting one up is not part of it: what a user is shown for that differs
 * from factor to factor (for TOTP: `enroll-totp.ts`).
 */
import type { IdentityId } from '../../base/ids.ts'
import type { AuthQuery } from '../../protocol/auth-query.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { Stores } from '../stores.ts'
import type { FactorPorts } from './ports.ts'

export interface SecondFactor {
  readonly id: SecondFactorId
  /** An enrolled factor is asked for at every login, whether or not the policy demands it (D-16). */
  isEnrolled(ports: EnrolledPorts, identityId: IdentityId): Promise<boolean>
  /** The same for many, in one query. */
  listEnrolled(
    ports: EnrolledPorts,
    identityIds: readonly IdentityId[],
  ): Promise<ReadonlySet<IdentityId>>
  /** What a client is told while the factor is outstanding, and where to send the answer. */
  query(brand: string, where: QueryPlace, isEnrolled: boolean): AuthQuery
  /** Judges an answer. It never touches the auth request or session. */
  check(ports: CheckPorts, identityId: IdentityId, answer: string): Promise<FactorVerdict>
}

/** In an OIDC login, or in a legacy session (D-51). */
export type QueryPlace = 'oidc' | 'legacy'

/** Where the factors look whether they are enrolled. */
export type EnrolledPorts = Pick<FactorPorts, 'totpEnrollments'>

/** What judging an answer needs. */
export type CheckPorts = Pick<FactorPorts, 'vault' | 'clock' | 'totpEnrollments' | 'codeGuesses'>

export type FactorVerdict =
  | {
      readonly verdict: 'matches'
      readonly by: SecondFactorId | 'recovery-code'
      /**
       * Spends the answer and clears the count of guesses; whoever accepts the factor runs it in the same transaction.
       * False: it was spent before, or is none of the recovery codes, which only spending can tell. That is a wrong
       * answer, and the caller hears nothing else (R085).
       */
      take(tx: Pick<Stores, 'totpEnrollments' | 'codeGuesses'>): Promise<boolean>
    }
  | { readonly verdict: 'wrong' }
  | { readonly verdict: 'not-enrolled' }
  | Blocked

/** D-18: too many wrong answers in a row. Not even a right one is looked at. */
export interface Blocked {
  readonly verdict: 'blocked'
  readonly retryAfterSeconds: number
}
