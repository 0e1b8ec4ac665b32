/**
 * Updates a row with unique columns, and reports which one conflicts. An update has no `on conflict`, and an error
 * would abort a PostgreSQL transaction: so it runs after a savepoint, and then the conflict is searched.
 */
import { type Kysely, sql, type Updateable } from 'kysely'
import { updateRow, type Where } from './one-row.ts'
import type { Tables } from './tables.ts'
import { atomically } from './transactions/atomically.ts'

/** `where` selects the one row; `unique` has the result for each unique column. */
export function updateUnique<Table extends keyof Tables, Obstacle extends string>(
  db: Kysely<Tables>,
  table: Table,
  where: Where<Table> & { readonly id: string },
  values: Updateable<Tables[Table]>,
  unique: Readonly<Record<Obstacle, keyof Tables[Table] & string>>,
): Promise<'replaced' | 'missing' | Obstacle> {
  const changes: Readonly<Record<string, unknown>> = { ...values }
  return atomically(db, async (tx) => {
    await sql`savepoint before_update`.execute(tx)
    try {
      const isReplaced = await updateRow(tx, table, where, values)
      await sql`release savepoint before_update`.execute(tx)
      return isReplaced ? 'replaced' : 'missing'
    } catch (error) {
      await sql`rollback to savepoint before_update`.execute(tx)
      for (const [obstacle, column] of Object.entries<string>(unique)) {
        const { rows } = await sql`
          select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${changes[column]} and id <> ${where.id}
        `.execute(tx)
        if (rows.length > 0) return obstacle as Obstacle
      }
      throw error
    }
  })
}
