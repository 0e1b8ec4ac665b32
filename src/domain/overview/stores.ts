import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { EventType } from '../audit/events.ts'
import type { ApiSession } from '../sessions/api-session.ts'
import type { Instance } from './instance.ts'

/** The instances that share the database (D-368, D-381). */
export interface Instances {
  /** Inserts or replaces the row of this instance. */
  replace(instance: Instance): Promise<void>
  /** The newest first. */
  list(): Promise<readonly Instance[]>
  remove(id: string): Promise<void>
  /** Deletes the predecessors of an instance that starts. */
  removeAt(place: string): Promise<void>
  /** Deletes those that were last seen before `before`. */
  removeExpired(before: Instant, limit: number): Promise<number>
}

/** How many sessions were live at which time (D-361). */
export interface SessionSamples {
  has(at: Instant): Promise<boolean>
  /** Changes nothing if another instance has counted at this time. */
  insert(sample: SessionSample): Promise<void>
  /** Oldest first. */
  list(from: Instant): Promise<readonly SessionSample[]>
  /** The highest of each day (UTC), oldest first. */
  listHighest(from: Instant): Promise<readonly HighestOfDay[]>
  removeExpired(before: Instant, limit: number): Promise<number>
}

export interface SessionSample extends Readonly<Record<ApiSession['kind'], number>> {
  /** The beginning of the quarter of an hour. */
  readonly at: Instant
}

export interface HighestOfDay {
  readonly from: Instant
  readonly highest: number
}

/** Counts for the overview, each in one bounded query (D-369). */
export interface Statistics {
  /** How many events of each type from `from` until before `to`; repeats that share a row count each. */
  countEvents(
    types: readonly EventType[],
    from: Instant,
    to: Instant,
  ): Promise<ReadonlyMap<string, number>>
  /** How many live sessions of each kind have proven what, from the index alone. There are few ways to prove a login. */
  countSessionsByProof(at: Instant): Promise<readonly ProofCount[]>
  /** How many passwords are locked for at least one network. */
  countLocked(at: Instant): Promise<number>
  /** Enrolled certificates that expire from `from` on, the next first. */
  listCertificateEnds(from: Instant, limit: number): Promise<readonly CertificateEnd[]>
  countCertificateEnds(from: Instant, until: Instant): Promise<number>
}

export interface ProofCount {
  readonly kind: ApiSession['kind']
  /** In the terms of RFC 8176. */
  readonly amr: readonly string[]
  readonly sessions: number
}

export interface CertificateEnd {
  readonly id: AuthenticatorId
  readonly identity: { readonly id: IdentityId; readonly name: string }
  readonly endsAt: Instant
}
