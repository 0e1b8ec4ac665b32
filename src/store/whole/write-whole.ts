/**
 * Writes a whole database in one transaction: if the process is killed, the database is unchanged or complete. Existing
 * content is refused, or replaced. D-159.
 */
import { type Kysely, sql } from 'kysely'
import type { Epochs } from '../../domain/installation/stores.ts'
import type { Stores } from '../../domain/stores.ts'
import type { Database } from '../dialects/database.ts'
import type { Row } from '../dialects/whole-facts.ts'
import { openMigrated, type StoreAddress, unavailable, within } from '../open.ts'
import type { Tables } from '../tables.ts'
import { sqlEpochs } from './epochs.ts'
import { type WholeDatabase, wholeOn } from './read-whole.ts'
import { NUMBERED, TABLES, type TableName } from './table-order.ts'

/** The database already has an installation. */
export class OccupiedDatabase extends Error {
  constructor(name: string) {
    super(`there is an installation in the database ${name} already`)
    this.name = 'OccupiedDatabase'
  }
}

export interface RowsOfTable {
  readonly table: TableName
  readonly rows: readonly Row[]
}

/** Runs after all rows are inserted, before they become visible. */
export type Finish<T> = (
  tx: Stores,
  besides: { readonly epochs: Epochs; readonly written: WholeDatabase },
) => Promise<T>

/** Throws StoreUnavailable, OccupiedDatabase, and errors of `content` and `finish`, without having changed anything. */
export async function writeWhole<T>(
  address: StoreAddress,
  /** In the order of `TABLES`. */
  content: () => AsyncIterable<RowsOfTable>,
  occupied: 'refuse' | 'replace',
  finish: Finish<T>,
  /** The highest numbers assigned in the source. */
  numbers: ReadonlyMap<TableName, number> = new Map(),
): Promise<T> {
  const { db, database } = await openMigrated(address)
  try {
    return await db.transaction().execute(async (tx) => {
      // Keeps an instance from starting on incomplete data, and lifts the time limits.
      await database.lockMigrations(tx)
      const endings = await clear(tx, database, occupied)
      for await (const { table, rows } of content()) await insertRows(tx, database, table, rows)
      for (const numbered of NUMBERED) {
        await database.whole.continueNumbers(tx, numbered, numbers.get(numbered.table) ?? 0)
      }
      await keepEndings(tx, endings)
      const besides = { epochs: sqlEpochs(tx), written: wholeOn(tx, database) }
      return within(
        tx,
        database,
        () => {},
        (stores) => finish(stores, besides),
      )
    })
  } catch (error) {
    throw isOfDriver(error) ? unavailable(database, error) : error
  } finally {
    await db.destroy()
  }
}

type Ending = Pick<Tables['session_endings'], 'subject' | 'at' | 'keep_until'>

/** Empties every table. Returns the endings that the database had: they are kept, whatever replaces the rest. */
async function clear(
  tx: Kysely<Tables>,
  database: Database,
  occupied: 'refuse' | 'replace',
): Promise<readonly Ending[]> {
  const found = await tx.selectFrom('installation').select('id').executeTakeFirst()
  if (found !== undefined && occupied === 'refuse') throw new OccupiedDatabase(database.name)
  const endings = await tx
    .selectFrom('session_endings')
    .select(['subject', 'at', 'keep_until'])
    .execute()
  for (const table of TABLES.toReversed()) await tx.deleteFrom(table).execute()
  return endings
}

async function keepEndings(tx: Kysely<Tables>, endings: readonly Ending[]): Promise<void> {
  for (let from = 0; from < endings.length; from += ENDINGS_AT_ONCE) {
    await tx
      .insertInto('session_endings')
      .values(endings.slice(from, from + ENDINGS_AT_ONCE))
      .onConflict((conflict) => conflict.column('subject').doNothing())
      .execute()
  }
}

const ENDINGS_AT_ONCE = 500

async function insertRows(
  tx: Kysely<Tables>,
  { whole }: Database,
  table: TableName,
  rows: readonly Row[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const names = Object.keys(first)
  const columns = sql.join(names.map((name) => sql.ref(name)))
  const values = rows.map((row) => sql`(${sql.join(names.map((name) => row[name] ?? null))})`)
  await sql`
    insert into ${sql.table(table)} (${columns}) ${sql.raw(whole.keepingNumbers)}
    values ${sql.join(values)}
  `.execute(tx)
}

/** The errors of both drivers have a `code`; ours do not. */
export function isOfDriver(error: unknown): boolean {
  return error instanceof Error && 'code' in error && !('syscall' in error)
}
