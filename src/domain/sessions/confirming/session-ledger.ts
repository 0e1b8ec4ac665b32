/**
 * Everything that happened to one session, in order: login, tokens, certificates, the routers that admitted it, its end,
 * and who has confirmed that. For administrators; also for sessions that have ended, as long as the audit log has them.
 * D-384. A fixed number of queries.
 */
import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import { type Instant, minus } from '../../../base/time/instant.ts'
import type { RecordedEvent } from '../../audit/recorded-event.ts'
import { equals } from '../../lists/filters.ts'
import type { ListQuery } from '../../lists/list-query.ts'
import { notFound } from '../../refusals.ts'
import type { Stores } from '../../stores.ts'
import { type ApiSession, CLOCK_JUMP } from '../api-session.ts'
import { type ConfirmationPorts, type Confirmations, readConfirmations } from './confirmations.ts'

export type LedgerEntry =
  /** An event of the audit log. */
  | { readonly kind: 'event'; readonly at: Instant; readonly event: RecordedEvent }
  /** The first time that a router admitted a connection of the session. */
  | {
      readonly kind: 'router-contact'
      readonly at: Instant
      readonly routerId: IdentityId
      readonly routerName: string | undefined
      /** The newest one, to within five minutes. */
      readonly lastAt: Instant
    }

export interface SessionLedger {
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId | undefined
  /** Undefined if the identity was deleted. */
  readonly identityName: string | undefined
  /** Undefined if the session has ended. */
  readonly session: ApiSession | undefined
  /** Oldest first. */
  readonly entries: readonly LedgerEntry[]
  /** How many events between the first one and the others are left out. */
  readonly omitted: number
  /** Set once the session has ended, and as long as one of its tokens could be valid somewhere. */
  readonly end: SessionLedgerEnd | undefined
}

export interface SessionLedgerEnd {
  /** After this, every access token of the session has expired by itself. */
  readonly tokensExpireAt: Instant
  readonly confirmations: Confirmations
}

export type LedgerPorts = ConfirmationPorts &
  Pick<Stores, 'apiSessions' | 'events' | 'identities' | 'sessionContacts' | 'sessionEndings'>

const MOST_EVENTS = 200
const MOST_CONTACTS = 200

/** Throws NOT_FOUND if neither the store nor the audit log knows the session. */
export async function sessionLedger(ports: LedgerPorts, id: ApiSessionId): Promise<SessionLedger> {
  const [stored, newest, oldest, contacts, ending] = await Promise.all([
    ports.apiSessions.find(id),
    ports.events.list(eventsOf(id, 'desc', MOST_EVENTS)),
    ports.events.list(eventsOf(id, 'asc', 1)),
    ports.sessionContacts.listOf(id, MOST_CONTACTS),
    ports.sessionEndings.find(id),
  ])
  const session = stored !== undefined && stored.expiresAt > ports.clock.now() ? stored : undefined
  const [first] = oldest.rows
  if (stored === undefined && first === undefined) throw notFound()
  const events = newest.rows.toReversed()
  if (first !== undefined && events[0]?.id !== first.id) events.unshift(first)
  const identityId =
    stored?.identityId ?? events.find((event) => event.identityId !== undefined)?.identityId
  const [identity, confirmations] = await Promise.all([
    identityId === undefined ? undefined : ports.identities.find(identityId),
    ending === undefined
      ? undefined
      : readConfirmations(ports, {
          ranges: [[ending.sequence, ending.sequence]],
          at: ending.at,
        }),
  ])
  const entries: readonly LedgerEntry[] = [
    ...events.map((event): LedgerEntry => ({ kind: 'event', at: event.at, event })),
    ...contacts.map(
      ({ routerId, name, firstAt, lastAt }): LedgerEntry => ({
        kind: 'router-contact',
        at: firstAt,
        routerId,
        routerName: name,
        lastAt,
      }),
    ),
  ].toSorted((a, b) => a.at - b.at)
  return {
    sessionId: id,
    identityId,
    identityName: identity?.name,
    session,
    entries,
    omitted: Math.max(0, newest.totalCount - events.length),
    end:
      ending === undefined || confirmations === undefined
        ? undefined
        : { tokensExpireAt: minus(ending.keepUntil, CLOCK_JUMP), confirmations },
  }
}

function eventsOf(id: ApiSessionId, direction: 'asc' | 'desc', limit: number): ListQuery {
  return { filter: equals('sessionId', id), orders: [{ field: 'at', direction }], limit, offset: 0 }
}
