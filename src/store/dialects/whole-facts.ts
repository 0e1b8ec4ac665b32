/** What differs between the databases when all of one is read or written: backup, restore and move. */
import type { QueryExecutorProvider } from 'kysely'

/** Columns by name, in the order of the table. */
export type Row = Readonly<Record<string, string | number | null>>

/** A column that the database numbers itself. */
export interface Numbered {
  readonly table: string
  readonly column: string
}

export interface WholeFacts {
  /** Begins a transaction that sees one snapshot and does not block writers. */
  readonly beginSnapshot: string
  /** In a transaction: removes its time limits. */
  liftLimits(transaction: QueryExecutorProvider): Promise<void>
  /** In a transaction: returns every row of a table, in batches. */
  rowsOf(transaction: QueryExecutorProvider, table: string): AsyncIterable<readonly Row[]>
  /** Goes between the columns and the values of an insert that sets the numbers of a sequence. */
  readonly keepingNumbers: string
  /** Returns the highest number ever assigned, even if its row was deleted. */
  lastNumber(transaction: QueryExecutorProvider, numbered: Numbered): Promise<number>
  /** After such inserts: makes the next number higher than all of them, and than `after`. */
  continueNumbers(
    transaction: QueryExecutorProvider,
    numbered: Numbered,
    after: number,
  ): Promise<void>
  /** Returns how many other connections to the database are visible. Not in a transaction. */
  countOthers(db: QueryExecutorProvider): Promise<number>
  /** In a transaction: blocks other writers of these tables until it ends. */
  lockTables(transaction: QueryExecutorProvider, tables: readonly string[]): Promise<void>
}
