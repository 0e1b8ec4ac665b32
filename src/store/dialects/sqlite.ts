/**
 * SQLite, as Node carries it: one connection, one file that several processes may share.
 *
 * WAL with synchronous=FULL: a commit that was answered survives a crash and a power cut. Transactions begin
 * as writers, because one that turns into a writer later fails at once when another process has written since.
 */
import { closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { StoreUnavailable } from '../../errors/store-unavailable.ts'
import type { Database } from './database.ts'
import { sqliteLists } from './sqlite-lists.ts'
import { sqliteWhole } from './sqlite-whole.ts'

/** A cache of 32 MiB: a list of 100,000 rows has more pages than the usual two. */
const PRAGMAS = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma fullfsync = on;
  pragma foreign_keys = on;
  pragma cache_size = -32768;
`

/** Five seconds in all, while this process goes on with everything else: SQLite's own wait would stop it. */
const LOCK_ATTEMPTS = 1_000
const LOCK_PAUSE_MS = 5

/** More than the queries of the store that are always the same; filters of lists make others without end. */
const KEPT_STATEMENTS = 500

/** SQLite result codes; the upper bits only refine them. */
const SQLITE_BUSY = 5
const SQLITE_NOTADB = 26

/** Errors of a database that cannot be used now: D-250. */
const TROUBLE = {
  PERM: 3,
  BUSY: SQLITE_BUSY,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  NOTADB: SQLITE_NOTADB,
} as const
const TROUBLES: ReadonlySet<number | undefined> = new Set(Object.values(TROUBLE))

export function sqlite(path: string): Database {
  return {
    name: path,
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new SqliteDriver(path),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    sequenceKey: 'integer primary key autoincrement',
    sortedText: 'text',
    lists: sqliteLists,
    whole: sqliteWhole,
    // A transaction begins as the only writer.
    lockMigrations: async () => {},
    readTime: async () => undefined,
    isTrouble: (error) => error instanceof StoreUnavailable || TROUBLES.has(resultCode(error)),
    // SQLite has no server that could stop responding.
    giveUpOnSilence: () => {},
    // SQLite names columns in its errors, never values.
    withoutContent: () => {},
  }
}

/** Kysely hands the one connection to one user at a time: queries and whole transactions wait in line. */
class SqliteDriver implements Driver {
  readonly #path: string
  #connection: SqliteConnection | undefined

  constructor(path: string) {
    this.#path = path
  }

  async init(): Promise<void> {
    const database = openFile(this.#path)
    try {
      await patiently(database, () => database.exec(PRAGMAS))
    } catch (error) {
      database.close()
      if (resultCode(error) !== SQLITE_NOTADB) throw error
      throw new StoreUnavailable(`${this.#path} is not a database of Latchkey`, { cause: error })
    }
    this.#connection = new SqliteConnection(database, watchFile(this.#path))
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#connection === undefined) throw new StoreUnavailable(`${this.#path} is not open`)
    return this.#connection
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // This happens after a rollback that failed, for example on a faulty disk.
    await this.rollbackTransaction(connection)
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    this.#connection?.refuseLostFile()
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk rolls back by itself; rolling back again would hide the error that tells so.
    if (this.#connection?.isTransaction === true) {
      await connection.executeQuery(CompiledQuery.raw('rollback'))
    }
  }

  async destroy(): Promise<void> {
    this.#connection?.close()
    this.#connection = undefined
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  /** Prepared once, the longest unused first. */
  readonly #statements = new Map<string, StatementSync>()

  /** Throws if the open file is no longer the one with this name. */
  readonly refuseLostFile: () => void

  constructor(database: DatabaseSync, refuseLostFile: () => void) {
    this.#database = database
    this.refuseLostFile = refuseLostFile
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction
  }

  executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return patiently(this.#database, () => {
      if (!this.isTransaction) this.refuseLostFile()
      const statement = this.#prepare(sql)
      const values = parameters as SQLInputValue[]
      if (statement.columns().length > 0) return { rows: statement.all(...values) as R[] }
      return { numAffectedRows: BigInt(statement.run(...values).changes), rows: [] }
    })
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for the method; the store reads no rows one by one.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('not supported')
  }

  close(): void {
    this.#database.close()
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql)
    this.#statements.delete(sql)
    this.#statements.set(sql, statement)
    const [oldest] = this.#statements.keys()
    if (this.#statements.size > KEPT_STATEMENTS && oldest !== undefined) {
      this.#statements.delete(oldest)
    }
    return statement
  }
}

function openFile(path: string): DatabaseSync {
  if (path !== ':memory:') {
    try {
      // Made here and not by SQLite, for its mode; SQLite gives the same mode to the files beside it.
      closeSync(openSync(path, 'a', 0o600))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      throw new StoreUnavailable(`the folder of the database ${path} does not exist`, {
        cause: error,
      })
    }
  }
  return new DatabaseSync(path, { timeout: 0 })
}

/**
 * A file that was deleted or replaced stays open, and everything written to it is lost when this process ends. So the
 * name is checked before each statement, each transaction and each commit (D-253); that costs a few microseconds.
 */
function watchFile(path: string): () => void {
  if (path === ':memory:') return () => {}
  const find = () => statSync(path, { bigint: true, throwIfNoEntry: false })
  const open = find()
  return () => {
    const current = find()
    if (current !== undefined && current.ino === open?.ino && current.dev === open.dev) return
    throw new StoreUnavailable(
      `the database file ${path} was ${current === undefined ? 'deleted' : 'replaced'} while it was in use; ` +
        'stop the service, put the file back or restore a backup, and start again',
    )
  }
}

/**
 * Waits while another process writes. Inside a transaction there is nothing to wait for, and a repeated
 * statement could run after a rollback: there, the error ends the transaction.
 */
async function patiently<T>(database: DatabaseSync, step: () => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return step()
    } catch (error) {
      const isBusy = resultCode(error) === SQLITE_BUSY
      if (!isBusy || database.isTransaction || attempt === LOCK_ATTEMPTS) throw error
    }
    await setTimeout(LOCK_PAUSE_MS)
  }
}

function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}
