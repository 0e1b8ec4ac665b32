/** The prepared statements of a SQLite connection: each text is prepared once. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { QueryResult } from 'kysely'

/** More than the store's fixed queries; list filters produce an unlimited number of others. */
const KEPT_STATEMENTS = 500

export interface Prepared {
  readonly statement: StatementSync
  /** Statements that write can return rows too. */
  readonly returnsRows: boolean
  readonly kind: Kind
}

/** `frame`: the beginning and the end of a transaction. `other`: for example a change of the tables. */
export type Kind = 'read' | 'change' | 'frame' | 'other'

const KINDS: Readonly<Record<string, Kind>> = {
  select: 'read',
  pragma: 'read',
  insert: 'change',
  update: 'change',
  delete: 'change',
  begin: 'frame',
  commit: 'frame',
  savepoint: 'frame',
  release: 'frame',
  rollback: 'frame',
}

export class Statements {
  readonly #database: DatabaseSync
  /** The least recently used comes first, once there are too many. */
  readonly #statements = new Map<string, Prepared>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  prepare(sql: string): Prepared {
    const known = this.#statements.get(sql)
    // Their order matters only when one has to go.
    if (known !== undefined && this.#statements.size < KEPT_STATEMENTS) return known
    const prepared = known ?? this.#prepareNew(sql)
    this.#statements.delete(sql)
    this.#statements.set(sql, prepared)
    if (this.#statements.size > KEPT_STATEMENTS) {
      const [oldest = ''] = this.#statements.keys()
      this.#statements.delete(oldest)
    }
    return prepared
  }

  #prepareNew(sql: string): Prepared {
    const statement = this.#database.prepare(sql)
    const returnsRows = statement.columns().length > 0
    const [word = ''] = sql.trimStart().split(/\s/, 1)
    return { statement, returnsRows, kind: KINDS[word.toLowerCase()] ?? 'other' }
  }
}

/** Only statements that change rows report whether they did. */
export function hasWritten(
  kind: Kind,
  { rows, numAffectedRows = 0n }: QueryResult<unknown>,
): boolean {
  if (kind === 'change') return rows.length > 0 || numAffectedRows > 0n
  return kind === 'other'
}

export function run<R>(
  { statement, returnsRows }: Prepared,
  parameters: readonly SQLInputValue[],
): QueryResult<R> {
  if (returnsRows) return { rows: statement.all(...parameters) as R[] }
  return { numAffectedRows: BigInt(statement.run(...parameters).changes), rows: [] }
}
