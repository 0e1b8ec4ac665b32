/**
 * Inserts a row with several unique constraints, and reports which one is violated. It does not parse error messages,
 * and an error would abort a PostgreSQL transaction: so the insert skips on conflict, and then the conflict is
 * searched.
 */
import { type Insertable, type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** A conflicting row can be gone when we look for it; then the next attempt inserts. */
const ATTEMPTS = 3

/** `unique` has the result for each group of columns; if several conflict, the first is reported. */
export async function insertUnique<Table extends keyof Tables, Obstacle extends string>(
  db: Kysely<Tables>,
  table: Table,
  row: Insertable<Tables[Table]>,
  unique: Readonly<Record<Obstacle, readonly (keyof Tables[Table] & string)[]>>,
): Promise<'inserted' | Obstacle> {
  const values: Readonly<Record<string, unknown>> = { ...row }
  const into = sql.table(table)
  const columns = Object.keys(values)
  const insert = sql`
    insert into ${into} (${sql.join(columns.map((column) => sql.ref(column)))})
    values (${sql.join(columns.map((column) => values[column]))}) on conflict do nothing
  `
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if ((await insert.execute(db)).numAffectedRows === 1n) return 'inserted'
    for (const [obstacle, group] of Object.entries<readonly string[]>(unique)) {
      const isSame = group.map((column) => sql`${sql.ref(column)} = ${values[column]}`)
      const { rows } = await sql`
        select 1 from ${into} where ${sql.join(isSame, sql` and `)}
      `.execute(db)
      if (rows.length > 0) return obstacle as Obstacle
    }
  }
  throw new Error(`table ${table}: there is a row of this key already`)
}
