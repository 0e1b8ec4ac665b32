/** Sessions and access tokens that ended early, numbered in the order of writing for readers that follow them. */
import type { Kysely } from 'kysely'
import type { SessionEndings } from '../../domain/sessions/stores.ts'
import { removeBefore } from '../remove-before.ts'
import type { Tables } from '../tables.ts'

export function sqlSessionEndings(db: Kysely<Tables>): SessionEndings {
  return {
    async insert({ subject, at, keepUntil }) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('session_endings')
        .values({ subject, at, keep_until: keepUntil })
        .onConflict((conflict) => conflict.column('subject').doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n
    },

    async listAfter(after) {
      const rows = await db
        .selectFrom('session_endings')
        .selectAll()
        .where('sequence', '>', after)
        .orderBy('sequence')
        .execute()
      return rows.map(({ sequence, subject, at, keep_until }) => ({
        sequence,
        subject,
        at,
        keepUntil: keep_until,
      }))
    },

    removeExpired: (before, limit) =>
      removeBefore(
        db,
        { table: 'session_endings', key: 'sequence', time: 'keep_until' },
        before,
        limit,
      ),
  }
}
