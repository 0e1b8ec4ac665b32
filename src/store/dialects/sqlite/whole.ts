/** A whole SQLite database: read in the order of its rows, concurrently with writers (WAL). */
import { sql } from 'kysely'
import { BATCH_ROWS } from '../../../domain/paging.ts'
import type { Row, WholeFacts } from '../whole-facts.ts'
import { resultCode, SQLITE_BUSY } from './faults.ts'

/** No table has a column of this name. */
const ROW_NUMBER = 'row number'

export const sqliteWhole: WholeFacts = {
  // Not a writer, unlike the other transactions of the store: those would have to wait.
  beginSnapshot: 'begin deferred',
  liftLimits: async () => {},

  async *rowsOf(transaction, table) {
    for (let after = 0; ; ) {
      const { rows } = await sql<Row>`
        select rowid as ${sql.ref(ROW_NUMBER)}, * from ${sql.table(table)}
        where rowid > ${after} order by rowid limit ${BATCH_ROWS}
      `.execute(transaction)
      if (rows.length === 0) return
      after = Number(rows.at(-1)?.[ROW_NUMBER])
      yield rows.map(({ [ROW_NUMBER]: _, ...row }) => row)
    }
  },

  keepingNumbers: '',

  async lastNumber(transaction, { table }) {
    const { rows } = await sql<{ seq: number }>`
      select seq from sqlite_sequence where name = ${table}
    `.execute(transaction)
    return rows[0]?.seq ?? 0
  },

  async continueNumbers(transaction, { table }, after) {
    // Inserts raise the number by themselves; a table without inserts has no row here.
    const { rows } = await sql`
      update sqlite_sequence set seq = max(seq, ${after}) where name = ${table} returning seq
    `.execute(transaction)
    if (rows.length > 0) return
    await sql`insert into sqlite_sequence (name, seq) values (${table}, ${after})`.execute(
      transaction,
    )
  },

  async countOthers(db) {
    try {
      // Leaving WAL works only if no other connection has the file open.
      await sql`pragma journal_mode = delete`.execute(db)
      await sql`pragma journal_mode = wal`.execute(db)
      return 0
    } catch (error) {
      // Another connection has the file open.
      if (resultCode((error as Error).cause) !== SQLITE_BUSY) throw error
      return 1
    }
  },

  // A transaction already begins as the only writer.
  lockTables: async () => {},
}
