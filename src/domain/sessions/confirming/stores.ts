import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { Position } from './position.ts'

/** That everything in the position was applied, and when this was confirmed. */
export interface Step {
  readonly position: Position
  readonly at: Instant
}

/**
 * One running router program, as the instances see it. Several programs may share an identity, so each has its own row:
 * the confirmation of one says nothing about the others. D-381.
 */
export interface RouterRun {
  readonly routerId: IdentityId
  /** Chosen by the program at its start. For a program that does not confirm: `~` and the feed that it opened. */
  readonly run: string
  /** The newest feed that it opened, and when. */
  readonly feed: string
  readonly openedAt: Instant
  /** When that feed was closed; undefined while it is open, as far as the store knows. */
  readonly closedAt: Instant | undefined
  /** When the program was last heard: it opened a feed, or confirmed something. */
  readonly contactAt: Instant
  /** Its newest confirmations, oldest first. */
  readonly steps: readonly Step[]
}

export interface ShownRun extends RouterRun {
  /** Undefined if the identity was deleted. */
  readonly name: string | undefined
}

/** What is new about a run. */
export interface RunChange {
  readonly routerId: IdentityId
  readonly run: string
  readonly contactAt: Instant
  readonly opened?: { readonly feed: string; readonly at: Instant }
  readonly closed?: { readonly feed: string; readonly at: Instant }
  readonly step?: Step
}

export interface RouterRuns {
  /** All of them, by name of the router; at most `limit`. */
  list(limit: number): Promise<readonly ShownRun[]>
  /** Writes all changes with one read and one statement. Only inside a transaction: it locks the rows. */
  apply(changes: readonly RunChange[]): Promise<void>
  /** Deletes other runs of the router that ended or were last heard before `before`, and all but the newest eight. */
  removeOthers(routerId: IdentityId, run: string, before: Instant): Promise<void>
  removeExpired(before: Instant, limit: number): Promise<number>
}

/** A session that a router admitted. */
export interface SessionContact {
  readonly routerId: IdentityId
  /** Of the router; undefined if it was deleted. */
  readonly name: string | undefined
  readonly firstAt: Instant
  readonly lastAt: Instant
}

export interface SessionContacts {
  /** Of live sessions alone: a router cannot create rows for ids that it made up. */
  note(routerId: IdentityId, sessionIds: readonly ApiSessionId[], at: Instant): Promise<void>
  listOf(sessionId: ApiSessionId, limit: number): Promise<readonly SessionContact[]>
  removeExpired(before: Instant, limit: number): Promise<number>
}
