/** Audit events: columns for what they are searched by, one JSON column for what only this type tells. */
import type { Kysely } from 'kysely'
import type { Events } from '../domain/audit/stores.ts'
import { removeBefore } from './remove-before.ts'
import type { Tables } from './tables.ts'

export function sqlEvents(db: Kysely<Tables>): Events {
  return {
    async insert(event) {
      await db
        .insertInto('events')
        .values({
          id: event.id,
          at: event.at,
          type: event.type,
          actor_id: event.caller?.actorId ?? null,
          identity_id: ('identityId' in event ? event.identityId : undefined) ?? null,
          session_id: ('sessionId' in event ? event.sessionId : undefined) ?? null,
          address: event.caller?.address ?? null,
          request_id: event.caller?.requestId ?? null,
          user_agent: event.caller?.userAgent ?? null,
          reason: 'reason' in event ? event.reason : null,
          details: 'details' in event ? JSON.stringify(event.details) : null,
        })
        .execute()
    },

    removeOlderThan: (before, limit) =>
      removeBefore(db, { table: 'events', key: 'id', time: 'at' }, before, limit),
  }
}
