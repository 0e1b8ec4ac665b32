/**
 * Whether anything was committed to a SQLite file since the last look, by this process or another: `pragma data_version`,
 * which costs a few microseconds (D-306). On a connection of its own, because the number counts only the commits of others.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'

export class SqliteVersion {
  readonly #path: string
  #open: { readonly database: DatabaseSync; readonly statement: StatementSync } | undefined
  #isClosed = false

  constructor(path: string) {
    this.#path = path
  }

  /** Undefined if it cannot be read: the caller must read the data itself, and gets the error from there. */
  current(): unknown {
    if (this.#isClosed) return undefined
    try {
      this.#open ??= this.#connect()
      return this.#open.statement.get()?.['data_version']
    } catch {
      this.#disconnect()
      return undefined
    }
  }

  /** Close it before the other connections: the last one to close removes the WAL, and this one cannot write. */
  close(): void {
    this.#isClosed = true
    this.#disconnect()
  }

  #connect() {
    const database = new DatabaseSync(this.#path, { readOnly: true, timeout: 0 })
    return { database, statement: database.prepare('pragma data_version') }
  }

  /** The numbers of two connections cannot be compared, so nothing is known after this. */
  #disconnect(): void {
    try {
      this.#open?.database.close()
    } catch {
      // It is of no use any more.
    }
    this.#open = undefined
  }
}
