/**
 * Deletes old rows in small batches, so that no clean-up holds a lock for long.
 */
import { type Kysely, sql } from 'kysely'
import type { Instant } from '../base/time/instant.ts'
import type { Tables } from './tables.ts'

/** Deletes at most `limit` rows whose `time` is before `before`, oldest first; returns how many. */
export async function removeBefore<Table extends keyof Tables>(
  db: Kysely<Tables>,
  from: { table: Table; key: keyof Tables[Table] & string; time: keyof Tables[Table] & string },
  before: Instant,
  limit: number,
): Promise<number> {
  const [table, key, time] = [sql.table(from.table), sql.ref(from.key), sql.ref(from.time)]
  const { numAffectedRows } = await sql`
    delete from ${table} where ${key} in (
      select ${key} from ${table} where ${time} < ${before} order by ${time} limit ${limit}
    )
  `.execute(db)
  return Number(numAffectedRows)
}
