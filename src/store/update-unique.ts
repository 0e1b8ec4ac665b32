/**
 * Updates a row with unique columns, and reports which one conflicts. An update has no `on conflict`, and an error
 * would abort a PostgreSQL transaction: so it runs after a savepoint, and then the conflict is searched.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'
import { atomically } from './transactions/atomically.ts'

/** `where` selects the one row; `unique` has the result for each unique column. */
export function updateUnique<Table extends keyof Tables, Obstacle extends string>(
  db: Kysely<Tables>,
  table: Table,
  where: Partial<Readonly<Record<keyof Tables[Table], unknown>>> & { readonly id: string },
  values: Partial<Readonly<Record<keyof Tables[Table], unknown>>>,
  unique: Readonly<Record<Obstacle, keyof Tables[Table] & string>>,
): Promise<'replaced' | 'missing' | Obstacle> {
  const into = sql.table(table)
  const pairs = (given: object) =>
    Object.entries(given).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
  const update = sql`
    update ${into} set ${sql.join(pairs(values))} where ${sql.join(pairs(where), sql` and `)}
  `
  const changes: Readonly<Record<string, unknown>> = { ...values }
  return atomically(db, async (tx) => {
    await sql`savepoint before_update`.execute(tx)
    try {
      const { numAffectedRows } = await update.execute(tx)
      await sql`release savepoint before_update`.execute(tx)
      return numAffectedRows === 1n ? 'replaced' : 'missing'
    } catch (error) {
      await sql`rollback to savepoint before_update`.execute(tx)
      for (const [obstacle, column] of Object.entries<string>(unique)) {
        const { rows } = await sql`
          select 1 from ${into} where ${sql.ref(column)} = ${changes[column]} and id <> ${where.id}
        `.execute(tx)
        if (rows.length > 0) return obstacle as Obstacle
      }
      throw error
    }
  })
}
