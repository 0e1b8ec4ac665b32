/**
 * Reads one page of a table, and the total number of rows. API 2. Values are bound parameters; column names come from
 * the table's map and never from the caller.
 */
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Filter, ListFields, ListQuery, Order } from '../../domain/lists/list-query.ts'
import type { Expression, ListFacts } from '../dialects/list-facts.ts'
import type { Tables } from '../tables.ts'
import { type ColumnOf, condition } from './condition.ts'

/** The columns of a list's fields, and its tags if it has any. */
export interface Listed<Table extends keyof Tables, Fields extends ListFields> {
  readonly table: Table
  readonly columns: Readonly<Record<NameIn<Fields>, keyof Tables[Table] & string>>
  /** The default order of the list. */
  readonly order: Order & { readonly field: NameIn<Fields> }
}

type NameIn<Fields extends ListFields> =
  | (keyof Fields['fields'] & string)
  | (Fields['hasTags'] extends true ? 'tags' : never)

/**
 * Up to this many rows, sorting in memory is cheaper than walking the index. With more, walking the rows in order
 * reaches the page soon. SQLite needs the hint, because it does not know how many rows have a value.
 */
const SORTABLE = 2_000

/** `common`: a condition besides the filter that nearly every row passes, so that no index helps with it. */
export async function listRows<Table extends keyof Tables, Fields extends ListFields, T>(
  db: Kysely<Tables>,
  facts: ListFacts,
  listed: Listed<Table, Fields>,
  fromRow: (row: Selectable<Tables[Table]>) => T,
  { filter, orders = [listed.order], limit, offset }: ListQuery,
  common?: Filter,
): Promise<{ readonly rows: readonly T[]; readonly totalCount: number }> {
  const { table, columns } = listed
  const byIndex = (field: string): Expression => sql.ref(columnOf(columns, field))
  const without = (field: string): Expression => facts.withoutIndex(byIndex(field))
  const rowsFound = (find: ColumnOf): Expression => {
    const isAlone = filter === undefined
    const conditions = [
      ...(isAlone ? [] : [condition(filter, find, facts)]),
      ...(common === undefined ? [] : [condition(common, isAlone ? find : without, facts)]),
    ]
    const where = conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`
    return sql`from ${sql.table(table)} ${where}`
  }

  const counted = await sql<{ totalCount: number }>`
    select count(*) as ${sql.ref('totalCount')} ${rowsFound(byIndex)}
  `.execute(db)
  const totalCount = counted.rows[0]?.totalCount ?? 0

  const isSorted = totalCount <= SORTABLE
  // The index on the first column of the order returns the rows in order.
  const inOrder: ColumnOf = (field) => (field === orders[0]?.field ? byIndex : without)(field)
  const { rows } = await sql<Selectable<Tables[Table]>>`
    select * ${rowsFound(isSorted ? byIndex : inOrder)}
    order by ${terms(orders, isSorted ? without : byIndex)}
    limit ${limit} offset ${offset}
  `.execute(db)
  return { rows: rows.map(fromRow), totalCount }
}

function columnOf(columns: Readonly<Record<string, string>>, field: string): string {
  const column = Object.hasOwn(columns, field) ? columns[field] : undefined
  if (column === undefined) throw new Error('a filter or order names a field that no list has')
  return column
}

/** The id, which every row has, always comes last. */
function terms(orders: readonly Order[], find: ColumnOf): Expression {
  const isUp = orders.at(-1)?.direction !== 'desc'
  return sql.join([
    ...orders.map(({ field, direction }) =>
      direction === 'asc'
        ? sql`${find(field)} asc nulls last`
        : sql`${find(field)} desc nulls first`,
    ),
    isUp ? sql`${find('id')} asc` : sql`${find('id')} desc`,
  ])
}
