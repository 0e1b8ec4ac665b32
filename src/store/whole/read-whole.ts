/**
 * Reads a whole database in one snapshot, while others keep writing: for backups. D-158. Nothing is migrated here,
 * because the running service may be another version.
 */
import { type QueryExecutorProvider, sql } from 'kysely'
import { StoreUnavailable } from '../../errors/store-unavailable.ts'
import type { Database } from '../dialects/database.ts'
import type { Row } from '../dialects/whole-facts.ts'
import { SHAPE } from '../migrate.ts'
import { openDatabase, type StoreAddress, unavailable } from '../open.ts'
import type { TableName } from './table-order.ts'

export type { Row, TableName }

export interface WholeDatabase {
  count(table: TableName): Promise<number>
  /** Every row, in batches. One table after the other. */
  rows(table: TableName): AsyncIterable<readonly Row[]>
}

/** Throws StoreUnavailable, also for a database version that this program does not know. */
export async function readWhole<T>(
  address: StoreAddress,
  work: (whole: WholeDatabase) => Promise<T>,
): Promise<T> {
  const { db, database } = await openDatabase(address)
  try {
    return await db.connection().execute(async (connection) => {
      await refuseOtherShape(connection, database)
      await sql.raw(database.whole.beginSnapshot).execute(connection)
      try {
        await database.whole.liftLimits(connection)
        return await work(wholeOn(connection, database))
      } finally {
        await sql`rollback`.execute(connection)
      }
    })
  } finally {
    await db.destroy()
  }
}

export function wholeOn(
  transaction: QueryExecutorProvider,
  { whole }: Pick<Database, 'whole'>,
): WholeDatabase {
  return {
    async count(table) {
      const { rows } = await sql<{ count: number }>`
        select count(*) as count from ${sql.table(table)}
      `.execute(transaction)
      return rows[0]?.count ?? 0
    },
    rows: (table) => whole.rowsOf(transaction, table),
  }
}

/** The rows are written elsewhere unchanged, so the tables must be those that this program knows. */
export async function refuseOtherShape(
  db: QueryExecutorProvider,
  database: Database,
): Promise<void> {
  const found = await sql<{ name: string }>`select name from migrations`.execute(db).then(
    ({ rows }) => rows.map(({ name }) => name),
    (error) => {
      throw unavailable(database, error)
    },
  )
  const names = new Set(found)
  if (names.size === SHAPE.length && SHAPE.every((name) => names.has(name))) return
  throw new StoreUnavailable(
    `the database ${database.name} is of another version of Latchkey; use the one that runs on it`,
  )
}
