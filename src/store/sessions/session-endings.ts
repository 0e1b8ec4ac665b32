/** Sessions and access tokens that ended early, numbered in the order of writing for readers that follow them. */
import type { Kysely, Selectable } from 'kysely'
import type { SessionEndings } from '../../domain/sessions/stores.ts'
import { findRow } from '../one-row.ts'
import { removeBefore } from '../remove-before.ts'
import type { SessionEndingRow, Tables } from '../tables.ts'

export function sqlSessionEndings(db: Kysely<Tables>): SessionEndings {
  return {
    async insert({ subject, at, keepUntil }) {
      const row = await db
        .insertInto('session_endings')
        .values({ subject, at, keep_until: keepUntil })
        .onConflict((conflict) => conflict.column('subject').doNothing())
        .returning('sequence')
        .executeTakeFirst()
      return row?.sequence
    },

    find: (subject) => findRow(db, 'session_endings', { subject }, fromRow),

    async listAfter(after) {
      const rows = await db
        .selectFrom('session_endings')
        .selectAll()
        .where('sequence', '>', after)
        .orderBy('sequence')
        .execute()
      return rows.map(fromRow)
    },

    removeExpired: removeBefore(db, {
      table: 'session_endings',
      key: ['sequence'],
      time: 'keep_until',
    }),
  }
}

function fromRow({ sequence, subject, at, keep_until }: Selectable<SessionEndingRow>) {
  return { sequence, subject, at, keepUntil: keep_until }
}
