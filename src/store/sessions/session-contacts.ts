/** Which router admitted which session, and when: D-383. */
import type { Kysely } from 'kysely'
import { isStorable } from '../../base/text.ts'
import type { SessionContacts } from '../../domain/sessions/confirming/stores.ts'
import { removeBefore } from '../remove-before.ts'
import type { Tables } from '../tables.ts'

export function sqlSessionContacts(db: Kysely<Tables>): SessionContacts {
  return {
    async note(routerId, sessionIds, at) {
      const storable = sessionIds.filter(isStorable)
      if (storable.length === 0) return
      await db
        .insertInto('session_contacts')
        .columns(['session_id', 'router_id', 'first_at', 'last_at'])
        .expression((eb) =>
          eb
            .selectFrom('api_sessions')
            .select(({ val, cast }) => [
              'id as session_id',
              cast<string>(val(routerId), 'text').as('router_id'),
              cast<number>(val(at), 'bigint').as('first_at'),
              cast<number>(val(at), 'bigint').as('last_at'),
            ])
            .where('id', 'in', storable)
            .orderBy('id'),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['session_id', 'router_id'])
            .doUpdateSet((eb) => ({ last_at: eb.ref('excluded.last_at') })),
        )
        .execute()
    },

    async listOf(sessionId, limit) {
      if (!isStorable(sessionId)) return []
      const rows = await db
        .selectFrom('session_contacts')
        .leftJoin('identities', 'identities.id', 'session_contacts.router_id')
        .select(['router_id', 'first_at', 'last_at', 'identities.name'])
        .where('session_id', '=', sessionId)
        .orderBy('first_at')
        .limit(limit)
        .execute()
      return rows.map(({ router_id, first_at, last_at, name }) => ({
        routerId: router_id,
        firstAt: first_at,
        lastAt: last_at,
        name: name ?? undefined,
      }))
    },

    removeExpired: removeBefore(db, {
      table: 'session_contacts',
      key: ['session_id', 'router_id'],
      time: 'last_at',
    }),
  }
}
