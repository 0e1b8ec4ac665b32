/**
 * The driver of PostgreSQL for Kysely. Unlike Kysely's own it spends no round trip on `begin`, which travels with the
 * first statement, and has the server keep the statements that repeat prepared (D-299).
 */
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { DatabaseError, type QueryResult as PgResult } from 'pg'
import { type LoneDriver, WithoutStreams } from '../../short-way.ts'
import { TRANSACTION_LIMIT } from './limits.ts'
import type { Link, Statement } from './link.ts'
import { createLockedStatements, type LockedStatements } from './locked-statements.ts'
import type { Pool } from './pool.ts'
import { createStatementNames, type NameOf } from './statement-names.ts'

/**
 * SQLSTATEs of a prepared statement that this connection can no longer use: a migration by another instance changed the
 * columns of its result (0A000, "cached plan must not change result type"), or the server has forgotten it (26000).
 */
const OUTDATED = /^(?:0A000|26000)$/

export interface PostgresDriverDeps {
  readonly pool: Pool
  /** Whether transactions are limited. */
  readonly isLimited: () => boolean
  /** Called by `destroy`, after the last use. */
  readonly onDestroy: () => Promise<void>
}

export class PostgresDriver implements LoneDriver {
  readonly #deps: PostgresDriverDeps
  readonly #statements = { nameOf: createStatementNames(), locked: createLockedStatements() }

  constructor(deps: PostgresDriverDeps) {
    this.#deps = deps
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new Lease(await this.#deps.pool.acquire(), this.#statements)
  }

  async runAlone<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { pool } = this.#deps
    const link = await pool.acquire()
    try {
      return await new Lease(link, this.#statements).executeQuery<R>(query)
    } finally {
      pool.release(link)
    }
  }

  async beginTransaction(lease: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    ;(lease as Lease).begin(settings)
  }

  commitTransaction(lease: DatabaseConnection): Promise<void> {
    return (lease as Lease).commit(this.#deps.isLimited())
  }

  rollbackTransaction(lease: DatabaseConnection): Promise<void> {
    return (lease as Lease).rollback()
  }

  async releaseConnection(lease: DatabaseConnection): Promise<void> {
    this.#deps.pool.release((lease as Lease).link)
  }

  async destroy(): Promise<void> {
    this.#deps.pool.end()
    await this.#deps.onDestroy()
  }
}

/** What is known of the statements, for all connections. */
interface Statements {
  readonly nameOf: NameOf
  readonly locked: LockedStatements
}

/** A connection for one user: a statement, or a transaction. */
class Lease extends WithoutStreams implements DatabaseConnection {
  readonly link: Link
  readonly #statements: Statements
  /** The statement that begins the transaction, until the first statement of the transaction takes it along. */
  #begin: string | undefined
  /** By the monotonic clock. */
  #begunAt = 0

  constructor(link: Link, statements: Statements) {
    super()
    this.link = link
    this.#statements = statements
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { nameOf, locked } = this.#statements
    const statement = { text: sql, values: parameters, name: nameOf(sql) }
    try {
      return resultOf(await locked.run(sql, () => this.#send(statement)))
    } catch (error) {
      if (error instanceof DatabaseError && OUTDATED.test(error.code ?? '')) this.link.destroy()
      throw error
    }
  }

  begin({ isolationLevel, accessMode }: TransactionSettings): void {
    const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`
    this.#begin = `begin${level}${accessMode === undefined ? '' : ` ${accessMode}`}`
    this.#begunAt = performance.now()
  }

  async commit(isLimited: boolean): Promise<void> {
    // Nothing was sent: there is nothing to commit.
    if (this.#begin !== undefined) return
    if (isLimited && performance.now() - this.#begunAt > TRANSACTION_LIMIT) {
      // The server rolls back. Readers of the session endings rely on the limit, and servers before 17 have none (D-302).
      this.link.destroy()
      throw new Error('the transaction took longer than 30 seconds')
    }
    const { command } = await this.link.run({ text: 'commit' })
    // The server completes COMMIT as ROLLBACK if a statement of the transaction had failed.
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollback(): Promise<void> {
    if (this.#begin !== undefined) {
      this.#begin = undefined
      return
    }
    try {
      await this.link.run({ text: 'rollback' })
    } catch (error) {
      // The connection may be in any state, so it is not used again.
      this.link.destroy()
      throw error
    }
  }

  #send(statement: Statement): Promise<PgResult> {
    const begin = this.#begin
    if (begin === undefined) return this.link.run(statement)
    this.#begin = undefined
    return this.link.runFirst(statement, begin)
  }
}

const CHANGES: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

function resultOf<R>({ command, rowCount, rows }: PgResult): QueryResult<R> {
  if (!CHANGES.has(command)) return { rows: rows ?? [] }
  return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows ?? [] }
}
