/**
 * Wraps a driver so that the rest of the program understands its errors: a failure of the database is a
 * StoreUnavailable, whether it occurs while connecting, in a statement or at the end of a transaction (D-250). So no
 * other code needs the error codes of a database, and a reset connection to the database is never mistaken for that of
 * a caller.
 */
import type { CompiledQuery, DatabaseConnection, Dialect, Kysely, QueryResult } from 'kysely'
import { StoreUnavailable } from '../../errors/store-unavailable.ts'
import {
  type LoneDriver,
  type Outcome,
  type PromptConnection,
  rememberWay,
  WithoutStreams,
} from '../short-way.ts'
import type { Database } from './database.ts'

export function guarded(database: Database, dialect: Dialect = database.dialect): Dialect {
  const adapter = dialect.createAdapter()
  const compiler = dialect.createQueryCompiler()
  const driver = guardedDriver(dialect.createDriver(), database)
  const one = {
    createAdapter: () => adapter,
    createIntrospector: (db: Kysely<unknown>) => dialect.createIntrospector(db),
    createQueryCompiler: () => compiler,
    createDriver: () => driver,
  }
  rememberWay({ dialect: one, adapter, compiler, driver })
  return one
}

/** Returns the error in terms for the operator. A StoreUnavailable is returned unchanged. */
export function unavailable(
  { name, explain }: Pick<Database, 'name' | 'explain'>,
  error: unknown,
): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const sentence = `cannot use the database ${name}: ${explain?.(error) ?? reasonOf(error)}`
  return new StoreUnavailable(sentence, { cause: error })
}

export function reasonOf(error: unknown): string {
  // A refused connection to a name with two addresses is an AggregateError without a message.
  const { message, code } = error as { message?: string; code?: string }
  return message || code || 'unknown reason'
}

class GuardedConnection extends WithoutStreams implements PromptConnection {
  readonly inner: DatabaseConnection & Partial<PromptConnection>
  readonly #explain: Explain

  constructor(inner: DatabaseConnection, explain: Explain) {
    super()
    this.inner = inner
    this.#explain = explain
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.run<R>(query)
  }

  run<R>(query: CompiledQuery): Outcome<R> {
    const { inner } = this
    return guardedOutcome(this.#explain, () =>
      inner.run === undefined ? inner.executeQuery<R>(query) : inner.run<R>(query),
    )
  }
}

/** Throws the error in the terms of the store. */
type Explain = (error: unknown) => never

/** Makes no promise if there was none. */
function guardedOutcome<R>(explain: Explain, work: () => Outcome<R>): Outcome<R> {
  try {
    const outcome = work()
    return outcome instanceof Promise ? outcome.catch(explain) : outcome
  } catch (error) {
    return explain(error)
  }
}

function guardedDriver(driver: LoneDriver, database: Database): LoneDriver {
  const explain: Explain = (error) => {
    database.withoutContent(error)
    throw database.isTrouble(error) ? unavailable(database, error) : error
  }
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      return explain(error)
    }
  }
  /** One for each connection of the driver, because Kysely marks those that it has seen. */
  const connections = new WeakMap<DatabaseConnection, GuardedConnection>()
  const innerOf = (connection: DatabaseConnection) =>
    connection instanceof GuardedConnection ? connection.inner : connection

  const runAlone = driver.runAlone?.bind(driver)

  return {
    init: (options) => guard(() => driver.init(options)),

    ...(runAlone && {
      runAlone: <R>(query: CompiledQuery) => guardedOutcome<R>(explain, () => runAlone<R>(query)),
    }),

    async acquireConnection(options) {
      const inner = await guard(() => driver.acquireConnection(options))
      const connection = connections.get(inner) ?? new GuardedConnection(inner, explain)
      connections.set(inner, connection)
      return connection
    },

    beginTransaction: (connection, settings) =>
      guard(() => driver.beginTransaction(innerOf(connection), settings)),
    commitTransaction: (connection) => guard(() => driver.commitTransaction(innerOf(connection))),
    async rollbackTransaction(connection) {
      try {
        await guard(() => driver.rollbackTransaction(innerOf(connection)))
      } catch (error) {
        // If the rollback cannot reach the server, the server rolls back by itself; the original error says more.
        if (!(error instanceof StoreUnavailable)) throw error
      }
    },
    releaseConnection: (connection) => driver.releaseConnection(innerOf(connection)),
    destroy: (options) => driver.destroy(options),
  }
}
