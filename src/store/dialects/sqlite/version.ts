/**
 * Whether anything was committed to a SQLite file since the last look, by this process or another: `pragma data_version`,
 * which costs a few microseconds (D-306). On a connection of its own, because the number counts only the commits of others.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { attempt } from '../../../base/node/attempt.ts'
import type { SqliteNotices } from './notices.ts'

export class SqliteVersion {
  readonly #path: string
  readonly #notices: SqliteNotices
  #open: { readonly database: DatabaseSync; readonly statement: StatementSync } | undefined
  #isClosed = false

  constructor(path: string, notices: SqliteNotices) {
    this.#path = path
    this.#notices = notices
  }

  /** Undefined if it cannot be read: the caller must read the data itself, and gets the error from there. */
  current(): unknown {
    if (this.#isClosed) return undefined
    return this.#notices.judge(this.#read(), () => this.#read())
  }

  /** Close it before the other connections: the last one to close removes the WAL, and this one cannot write. */
  close(): void {
    this.#isClosed = true
    this.#notices.close()
    this.#disconnect()
  }

  #read(): unknown {
    try {
      this.#open ??= this.#connect()
      return this.#open.statement.get()?.['data_version']
    } catch {
      this.#disconnect()
      return undefined
    }
  }

  #connect() {
    const database = new DatabaseSync(this.#path, { readOnly: true, timeout: 0 })
    return { database, statement: database.prepare('pragma data_version') }
  }

  /** The numbers of two connections cannot be compared, so nothing is known after this. */
  #disconnect(): void {
    attempt(() => this.#open?.database.close())
    this.#open = undefined
  }
}
