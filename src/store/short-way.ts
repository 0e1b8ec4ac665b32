/**
 * Shorter ways to the database than Kysely's own, which leads each statement through a dozen promises and, in a
 * transaction, through a new executor. Next to SQLite, which answers in microseconds, that was most of the time (D-281).
 * Queries are still built and compiled by Kysely.
 */
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  type QueryResult,
  SingleConnectionProvider,
  Transaction,
} from 'kysely'
import type { Tables } from './tables.ts'

/** The result, or a promise of it if there was something to wait for. */
export type Outcome<R> = QueryResult<R> | Promise<QueryResult<R>>

/** Also a driver that can run a statement outside a transaction by itself, without lending a connection. */
export interface LoneDriver extends Driver {
  runAlone?<R>(query: CompiledQuery): Outcome<R>
}

/** Kysely asks for the method; the store reads no rows one by one. */
export abstract class WithoutStreams {
  // biome-ignore lint/correctness/useYield: there is nothing to yield
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('not supported')
  }
}

/** A connection that makes no promise for a statement that has nothing to wait for. */
export interface PromptConnection extends DatabaseConnection {
  run<R>(query: CompiledQuery): Outcome<R>
}

interface Way {
  readonly dialect: Dialect
  readonly adapter: DialectAdapter
  readonly compiler: QueryCompiler
  readonly driver: LoneDriver
}

/** By the adapter, which a Kysely and its transactions share. */
const ways = new WeakMap<DialectAdapter, Way>()

export function rememberWay(way: Way): void {
  ways.set(way.adapter, way)
}

/** Runs a compiled query on the connection of the transaction, or on any. The driver has been initialized. */
export function runCompiled<R>(db: Kysely<Tables>, query: CompiledQuery<R>): Outcome<R> {
  const executor = db.getExecutor()
  if (executor instanceof ConnectionExecutor) return executor.run<R>(query)
  const isPlain = !db.isTransaction && executor.plugins.length === 0
  const driver = isPlain ? ways.get(executor.adapter)?.driver : undefined
  return driver?.runAlone?.<R>(query) ?? db.executeQuery(query)
}

/** As `db.transaction().execute(work)` does it: commits what `work` did, or rolls it back if it throws. */
export async function inTransaction<T>(
  db: Kysely<Tables>,
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const way = ways.get(db.getExecutor().adapter)
  if (way === undefined) throw new Error('a database that was not opened by the store')
  const { driver, dialect } = way
  const connection = await driver.acquireConnection()
  try {
    await driver.beginTransaction(connection, {})
    try {
      const executor = new ConnectionExecutor(way, connection as PromptConnection)
      // A transaction uses only the executor; the driver is there for those who begin or end one by themselves.
      const props = { config: { dialect }, dialect, driver: driver as never, executor }
      const outcome = await work(new Transaction<Tables>(props))
      await driver.commitTransaction(connection)
      return outcome
    } catch (error) {
      // The server has already rolled back.
      if (!(error instanceof AbortedTransactionError)) await driver.rollbackTransaction(connection)
      throw error
    }
  } finally {
    await driver.releaseConnection(connection)
  }
}

/** Runs everything on one connection. */
class ConnectionExecutor extends DefaultQueryExecutor {
  readonly #connection: PromptConnection

  constructor({ compiler, adapter }: Way, connection: PromptConnection) {
    super(compiler, adapter, new SingleConnectionProvider(connection))
    this.#connection = connection
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.executeQuery<R>(query)
  }

  run<R>(query: CompiledQuery): Outcome<R> {
    return this.#connection.run<R>(query)
  }
}
