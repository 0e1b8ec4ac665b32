/** What differs between the databases where a whole one is read or written: backup, restore and move. */
import type { QueryExecutorProvider } from 'kysely'

/** Columns by name, in the order of the table. */
export type Row = Readonly<Record<string, string | number | null>>

/** A column whose numbers the database itself counts on. */
export interface Numbered {
  readonly table: string
  readonly column: string
}

export interface WholeFacts {
  /** Begins a transaction that sees one moment and keeps nobody from writing. */
  readonly beginSnapshot: string
  /** In a transaction: it may take as long as it takes. */
  liftLimits(transaction: QueryExecutorProvider): Promise<void>
  /** In a transaction: every row of a table, some at a time. */
  rowsOf(transaction: QueryExecutorProvider, table: string): AsyncIterable<readonly Row[]>
  /** Between the columns and the values of an insert that brings the numbers of a sequence with it. */
  readonly keepingNumbers: string
  /** The highest number that was ever given, also when its row is gone. */
  lastNumber(transaction: QueryExecutorProvider, numbered: Numbered): Promise<number>
  /** After such inserts: the next number is higher than all of them, and than `after`. */
  continueNumbers(
    transaction: QueryExecutorProvider,
    numbered: Numbered,
    after: number,
  ): Promise<void>
  /** How many others are connected to the database now, as far as can be seen. Not in a transaction. */
  countOthers(db: QueryExecutorProvider): Promise<number>
  /** In a transaction: nobody else writes to these tables before it ends. */
  lockTables(transaction: QueryExecutorProvider, tables: readonly string[]): Promise<void>
}
