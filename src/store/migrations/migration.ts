/** One step of the database schema. Forward only; a released one is never edited. */
import type { Kysely } from 'kysely'
import type { Database } from '../dialects/database.ts'
import type { Tables } from '../tables.ts'

export interface Migration {
  /** Number and topic, as in the name of its file. */
  readonly name: string
  statements(
    database: Pick<Database, 'sequenceKey' | 'sortedText' | 'passingTable'>,
  ): readonly string[]
  /** Computes what SQL cannot, after the statements and in the same transaction. */
  fill?(db: Kysely<Tables>): Promise<void>
}
