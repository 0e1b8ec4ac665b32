/**
 * Deletes old rows in small batches, so that no clean-up holds a lock for long.
 */
import { type Kysely, SelectModifierNode, sql } from 'kysely'
import type { Instant } from '../base/time/instant.ts'
import type { Tables } from './tables.ts'

/** A row that another transaction has locked is left for the next round (D-485). */
const UNLOCKED = sql`${modifier('ForUpdate')} ${modifier('SkipLocked')}`

/**
 * Returns the clean-up of a table: it deletes at most `limit` rows whose `time` is before `before`, oldest first, and
 * returns how many.
 */
export function removeBefore<Table extends keyof Tables>(
  db: Kysely<Tables>,
  from: {
    table: Table
    key: readonly (keyof Tables[Table] & string)[]
    time: keyof Tables[Table] & string
  },
): (before: Instant, limit: number) => Promise<number> {
  return async (before, limit) => {
    const [table, time] = [sql.table(from.table), sql.ref(from.time)]
    const key = sql.join(from.key.map((column) => sql.ref(column)))
    const { numAffectedRows } = await sql`
      with old as materialized (
        select ${key} from ${table} where ${time} < ${before} order by ${time} limit ${limit} ${UNLOCKED}
      )
      delete from ${table} where (${key}) in (select ${key} from old)
    `.execute(db)
    return Number(numAffectedRows)
  }
}

/** As a node, because SQLite leaves it out. */
function modifier(name: 'ForUpdate' | 'SkipLocked') {
  return { toOperationNode: () => SelectModifierNode.create(name) }
}
