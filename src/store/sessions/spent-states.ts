/** The states of logins that came back from an IdP: D-155. */
import type { Kysely } from 'kysely'
import type { SpentStates } from '../../domain/login/stores.ts'
import { removeBefore } from '../remove-before.ts'
import type { Tables } from '../tables.ts'

export function sqlSpentStates(db: Kysely<Tables>): SpentStates {
  return {
    async insert({ hash, expiresAt }) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('spent_states')
        .values({ hash, expires_at: expiresAt })
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n
    },

    removeExpired: (before, limit) =>
      removeBefore(db, { table: 'spent_states', key: ['hash'], time: 'expires_at' }, before, limit),
  }
}
