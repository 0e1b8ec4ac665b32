/** Finds, changes and deletes one row by the values of its columns. Null matches a column without a value. */
import { type Kysely, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely'
import { isStorable } from '../base/text.ts'
import type { Tables } from './tables.ts'

export type Where<Table extends keyof Tables> = Partial<Selectable<Tables[Table]>>

/** Returns the converted row; undefined if there is none. */
export async function findRow<Table extends keyof Tables, T>(
  db: Kysely<Tables>,
  table: Table,
  where: Where<Table>,
  fromRow: (row: Selectable<Tables[Table]>) => T,
): Promise<T | undefined> {
  if (!areStorable(where)) return undefined
  const select = sql<
    Selectable<Tables[Table]>
  >`select * from ${sql.table(table)} ${matching(where)}`
  const [row] = (await select.execute(db)).rows
  return row && fromRow(row)
}

/** Returns whether a row was changed. */
export async function updateRow<Table extends keyof Tables>(
  db: Kysely<Tables>,
  table: Table,
  where: Where<Table>,
  changes: Updateable<Tables[Table]>,
): Promise<boolean> {
  if (!areStorable(where)) return false
  const set = sql.join(Object.entries(changes).map(([name, value]) => equal(name, value)))
  const update = sql`update ${sql.table(table)} set ${set} ${matching(where)}`
  return (await update.execute(db)).numAffectedRows === 1n
}

/** Returns whether a row was deleted. */
export async function deleteRow<Table extends keyof Tables>(
  db: Kysely<Tables>,
  table: Table,
  where: Where<Table>,
): Promise<boolean> {
  if (!areStorable(where)) return false
  const remove = sql`delete from ${sql.table(table)} ${matching(where)}`
  return (await remove.execute(db)).numAffectedRows === 1n
}

/** No row has a text that cannot be stored. A database would refuse it, or look for another one. */
export function areStorable(values: object): boolean {
  return Object.values(values).every((value) => typeof value !== 'string' || isStorable(value))
}

function matching(where: object): RawBuilder<unknown> {
  const conditions = Object.entries(where).map(([name, value]) =>
    value === null ? sql`${sql.ref(name)} is null` : equal(name, value),
  )
  return sql`where ${sql.join(conditions, sql` and `)}`
}

function equal(name: string, value: unknown): RawBuilder<unknown> {
  return sql`${sql.ref(name)} = ${value}`
}
