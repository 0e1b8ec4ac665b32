/**
 * Inserts and updates rows with several unique constraints, and reports which one is violated. Error messages are not
 * parsed, and an error would abort a PostgreSQL transaction: so an insert skips on conflict, an update, which cannot, runs
 * after a savepoint, and then the conflict is searched.
 */
import { type Insertable, type Kysely, type RawBuilder, sql, type Updateable } from 'kysely'
import { updateRow, type Where } from './one-row.ts'
import type { Tables } from './tables.ts'
import { atomically } from './transactions/atomically.ts'

/** The result for each group of columns that is unique; if several conflict, the first is reported. */
type Unique<Table extends keyof Tables, Obstacle extends string> = Readonly<
  Record<Obstacle, readonly (keyof Tables[Table] & string)[]>
>

/** A conflicting row can be gone when we look for it; then the next attempt inserts. */
const ATTEMPTS = 3

/** `among`: which rows the constraints are about, if not about all. */
export async function insertUnique<Table extends keyof Tables, Obstacle extends string>(
  db: Kysely<Tables>,
  table: Table,
  row: Insertable<Tables[Table]>,
  unique: Unique<Table, Obstacle>,
  among?: RawBuilder<unknown>,
): Promise<'inserted' | Obstacle> {
  const values: Readonly<Record<string, unknown>> = { ...row }
  const columns = Object.keys(values)
  const insert = sql`
    insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values (${sql.join(columns.map((column) => values[column]))}) on conflict do nothing
  `
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if ((await insert.execute(db)).numAffectedRows === 1n) return 'inserted'
    const obstacle = await findObstacle(db, table, values, unique, among)
    if (obstacle !== undefined) return obstacle
  }
  throw new Error(`table ${table}: there is a row of this key already`)
}

/** `where` selects the one row. */
export function updateUnique<Table extends keyof Tables, Obstacle extends string>(
  db: Kysely<Tables>,
  table: Table,
  where: Where<Table> & { readonly id: string },
  values: Updateable<Tables[Table]>,
  unique: Unique<Table, Obstacle>,
): Promise<'replaced' | 'missing' | Obstacle> {
  return atomically(db, async (tx) => {
    await sql`savepoint before_update`.execute(tx)
    try {
      const isReplaced = await updateRow(tx, table, where, values)
      await sql`release savepoint before_update`.execute(tx)
      return isReplaced ? 'replaced' : 'missing'
    } catch (error) {
      await sql`rollback to savepoint before_update`.execute(tx)
      const others = sql`id <> ${where.id}`
      const obstacle = await findObstacle(tx, table, { ...values }, unique, others)
      if (obstacle === undefined) throw error
      return obstacle
    }
  })
}

async function findObstacle<Table extends keyof Tables, Obstacle extends string>(
  db: Kysely<Tables>,
  table: Table,
  values: Readonly<Record<string, unknown>>,
  unique: Unique<Table, Obstacle>,
  among: RawBuilder<unknown> = sql`true`,
): Promise<Obstacle | undefined> {
  for (const [obstacle, group] of Object.entries<readonly string[]>(unique)) {
    const isSame = group.map((column) => sql`${sql.ref(column)} = ${values[column]}`)
    const { rows } = await sql`
      select 1 from ${sql.table(table)} where ${sql.join([...isSame, among], sql` and `)}
    `.execute(db)
    if (rows.length > 0) return obstacle as Obstacle
  }
  return undefined
}
