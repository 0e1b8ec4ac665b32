/**
 * Queries whose text never changes: built and compiled once for each database, then run with other values. Building and
 * compiling takes about eight times as long as running the prepared statement (D-280).
 */
import type {
  Compilable,
  CompiledQuery,
  Insertable,
  Kysely,
  QueryResult,
  Transaction,
} from 'kysely'
import { areStorable } from './one-row.ts'
import { type Outcome, runCompiled } from './short-way.ts'
import type { Tables } from './tables.ts'

/** Stands for a value while the query is built. */
class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

export interface FixedQuery<Values, Row> {
  run(db: Kysely<Tables>, values: Values): Promise<QueryResult<Row>>
  /** Returns the first row. */
  first(db: Kysely<Tables>, values: Values): Promise<Row | undefined>
  /** Returns the first row, converted. Undefined, without a query, if a value is a text that cannot be stored. */
  find<T>(db: Kysely<Tables>, values: Values, fromRow: (row: Row) => T): Promise<T | undefined>
  /** Returns the number of rows that the statement inserted, changed or deleted. */
  count(db: Kysely<Tables>, values: Values): Promise<number>
  /** As `first` and `count`, in a transaction on SQLite, where nothing is waited for (D-466). */
  firstNow(tx: Transaction<Tables>, values: Values): Row | undefined
  countNow(tx: Transaction<Tables>, values: Values): number
}

/**
 * `build` gets a stand-in for each value, and may only pass it to the query as a parameter: it is called once, and the
 * real values are bound when the query runs. So the text must not depend on a value, for example on whether it is null.
 */
export function fixedQuery<Values extends object, Row>(
  build: (db: Kysely<Tables>, values: Values) => Compilable<Row>,
): FixedQuery<Values, Row> {
  const slots = new Proxy({} as Values, { get: (_, name) => new Slot(String(name)) })
  /** By the adapter: a transaction has the one of its database, and each kind of database its own text. */
  const compiled = new WeakMap<object, CompiledQuery<Row>>()

  function run(db: Kysely<Tables>, values: Values): Outcome<Row> {
    const { adapter } = db.getExecutor()
    let query = compiled.get(adapter)
    if (query === undefined) {
      query = build(db, slots).compile()
      compiled.set(adapter, query)
    }
    const parameters = query.parameters.map((one) =>
      one instanceof Slot ? values[one.name as keyof Values] : one,
    )
    return runCompiled(db, { ...query, parameters })
  }

  function runNow(tx: Transaction<Tables>, values: Values): QueryResult<Row> {
    const outcome = run(tx, values)
    if (outcome instanceof Promise) throw new Error('this database does not answer at once')
    return outcome
  }

  async function first(db: Kysely<Tables>, values: Values): Promise<Row | undefined> {
    const outcome = run(db, values)
    const { rows } = outcome instanceof Promise ? await outcome : outcome
    return rows[0]
  }

  return {
    run: async (db, values) => run(db, values),
    first,
    async find(db, values, fromRow) {
      if (!areStorable(values)) return undefined
      const row = await first(db, values)
      return row && fromRow(row)
    },
    async count(db, values) {
      const outcome = run(db, values)
      return countIn(outcome instanceof Promise ? await outcome : outcome)
    },
    firstNow: (tx, values) => runNow(tx, values).rows[0],
    countNow: (tx, values) => countIn(runNow(tx, values)),
  }
}

function countIn({ numAffectedRows = 0n }: QueryResult<unknown>): number {
  return Number(numAffectedRows)
}

type Row = Readonly<Record<string, unknown>>

const inserts = new Map<string, FixedQuery<Row, unknown>>()

/**
 * Inserts one row. With `unless`, a row with the same value in that column stays as it is. Returns whether the row was
 * inserted.
 */
export async function insertRow<Table extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: Table,
  row: Insertable<Tables[Table]>,
  unless?: keyof Tables[Table] & string,
): Promise<boolean> {
  return (await insertQuery(table, Object.keys(row), unless).count(db, row as Row)) === 1
}

/** The same in a transaction on SQLite, where nothing is waited for (D-466). */
export function insertRowNow<Table extends keyof Tables & string>(
  tx: Transaction<Tables>,
  table: Table,
  row: Insertable<Tables[Table]>,
  unless?: keyof Tables[Table] & string,
): boolean {
  return insertQuery(table, Object.keys(row), unless).countNow(tx, row as Row) === 1
}

function insertQuery(
  table: keyof Tables & string,
  columns: readonly string[],
  unless: string | undefined,
): FixedQuery<Row, unknown> {
  const key = [table, unless, ...columns].join(' ')
  let query = inserts.get(key)
  if (query === undefined) {
    query = fixedQuery((on, values: Row) => {
      const slots = Object.fromEntries(columns.map((column) => [column, values[column]]))
      const insert = on.insertInto(table).values(slots as never)
      if (unless === undefined) return insert
      return insert.onConflict((conflict) => conflict.column(unless as never).doNothing())
    })
    inserts.set(key, query)
  }
  return query
}
