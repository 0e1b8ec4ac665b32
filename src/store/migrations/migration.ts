/** One step of the database schema. Forward only; a released one is never edited. */
import type { Database } from '../dialects/database.ts'

export interface Migration {
  /** Number and topic, as in the name of its file. */
  readonly name: string
  statements(database: Pick<Database, 'sequenceKey' | 'sortedText'>): readonly string[]
}
