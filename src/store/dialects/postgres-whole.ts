/** A whole PostgreSQL database: read through a cursor, in one snapshot. */
import { sql } from 'kysely'
import { BATCH_ROWS } from '../../domain/paging.ts'
import { LIMITED_SETTINGS } from './postgres/limits.ts'
import type { Row, WholeFacts } from './whole-facts.ts'

export const postgresWhole: WholeFacts = {
  beginSnapshot: 'begin isolation level repeatable read read only',

  async liftLimits(transaction) {
    await sql`
      select set_config(name, '0', true) from pg_settings where name = any(${LIMITED_SETTINGS})
    `.execute(transaction)
  },

  async *rowsOf(transaction, table) {
    const fetch = sql<Row>`fetch forward ${sql.lit(BATCH_ROWS)} from whole`
    await sql`declare whole no scroll cursor for select * from ${sql.table(table)}`.execute(
      transaction,
    )
    try {
      for (;;) {
        const { rows } = await fetch.execute(transaction)
        if (rows.length === 0) return
        yield rows
      }
    } finally {
      // Close it even if the reader stops early. In a failed transaction there is nothing to close.
      await sql`close whole`.execute(transaction).catch(() => {})
    }
  },

  keepingNumbers: 'overriding system value',

  async lastNumber(transaction, { table, column }) {
    const { rows } = await sql<{ last: number | null }>`
      select pg_sequence_last_value(pg_get_serial_sequence(${table}, ${column})::regclass) as last
    `.execute(transaction)
    return rows[0]?.last ?? 0
  },

  async continueNumbers(transaction, { table, column }, after) {
    await sql`
      select setval(pg_get_serial_sequence(${table}, ${column}), last) from (
        select greatest(${after}::bigint, max(${sql.ref(column)})) as last from ${sql.table(table)}
      ) as given where last > 0
    `.execute(transaction)
  },

  async countOthers(db) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and coalesce(backend_type, 'client backend') = 'client backend'
    `.execute(db)
    return rows[0]?.count ?? 0
  },

  async lockTables(transaction, tables) {
    const names = sql.join(tables.map((table) => sql.table(table)))
    await sql`lock table ${names} in exclusive mode`.execute(transaction)
  },
}
