import type { SelectQueryBuilder } from 'kysely'
import type { Tables } from './tables.ts'

/** Returns how many rows the query finds, which selects nothing yet. */
export async function countRows<Table extends keyof Tables>(
  rows: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const counted = rows.select(({ fn }) => fn.countAll<number>().as('count'))
  const { count } = await counted.executeTakeFirstOrThrow()
  return count
}
