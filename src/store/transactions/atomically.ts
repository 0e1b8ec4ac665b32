/** For the few store methods that need several statements. */
import type { Kysely } from 'kysely'
import type { Tables } from '../tables.ts'

/** Runs the statements in the transaction of the caller, or in a new one. */
export function atomically<T>(
  db: Kysely<Tables>,
  statements: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return db.isTransaction ? statements(db) : db.transaction().execute(statements)
}
