/** The states of logins that came back from an IdP: D-155. */
import type { Kysely } from 'kysely'
import type { SpentStates } from '../../domain/login/stores.ts'
import { insertRow } from '../fixed-query.ts'
import { removeBefore } from '../remove-before.ts'
import type { Tables } from '../tables.ts'

export function sqlSpentStates(db: Kysely<Tables>): SpentStates {
  return {
    insert: ({ hash, expiresAt }) =>
      insertRow(db, 'spent_states', { hash, expires_at: expiresAt }, 'hash'),

    removeExpired: removeBefore(db, { table: 'spent_states', key: ['hash'], time: 'expires_at' }),
  }
}
