import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { EventType } from '../audit/events.ts'
import type { Instance } from './instance.ts'

/** The instances that share the database (D-368). */
export interface Instances {
  /** Inserts or replaces the row of this instance. */
  replace(instance: Instance): Promise<void>
  /** The newest first. */
  list(): Promise<readonly Instance[]>
  removeUnseenSince(before: Instant): Promise<void>
}

/** Counts for the overview, each in one bounded query (D-369). */
export interface Statistics {
  /** How many events of each type from `from` until before `to`; repeats that share a row count each. */
  countEvents(
    types: readonly EventType[],
    from: Instant,
    to: Instant,
  ): Promise<ReadonlyMap<string, number>>
  /** How many live sessions have proven what: the members of `amr`, and the number. The most frequent first. */
  countSessionsByProof(at: Instant): Promise<readonly ProofCount[]>
  /** How many passwords are locked for at least one network. */
  countLocked(at: Instant): Promise<number>
  /** Enrolled certificates that expire from `from` on, the next first. */
  listCertificateEnds(from: Instant, limit: number): Promise<readonly CertificateEnd[]>
  countCertificateEnds(from: Instant, until: Instant): Promise<number>
}

export interface ProofCount {
  readonly amr: readonly string[]
  readonly sessions: number
}

export interface CertificateEnd {
  readonly id: AuthenticatorId
  readonly identity: { readonly id: IdentityId; readonly name: string }
  readonly fingerprint: string
  readonly isIssuedByNetwork: boolean
  readonly endsAt: Instant
}
