/**
 * Changes a row whose columns must be unique, and says which of them is in the way. An update has no `on conflict`, and
 * an error would end a transaction of PostgreSQL: so it is tried behind a savepoint, and the obstacle looked for.
 */
import { type Kysely, sql } from 'kysely'
import { atomically } from './atomically.ts'
import type { Tables } from './tables.ts'

/** `where` names the one row; `unique` gives the answer for each column that belongs to one row alone. */
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
