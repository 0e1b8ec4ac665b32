/**
 * Common to the tables of rules. Fields that are never searched are one JSON column, `body`. A rule is read and deleted
 * by its id; all are listed by name.
 */
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import { type Shaped, type Shapes, shapedRows } from '../described-rows.ts'
import { deleteRow, findRow, type Where } from '../one-row.ts'
import { integer, json, reading, type Shape, tags, text } from '../reading.ts'
import type { Tables } from '../tables.ts'

type RuleTable = 'auth_policies' | 'cas' | 'external_jwt_signers'

const COMMON = {
  name: text,
  tags: json(tags),
  createdAt: integer<Instant>,
  updatedAt: integer<Instant>,
}

interface RuleRows<Table extends RuleTable, Rule> {
  fromRow(row: Selectable<Tables[Table]>): Rule
  toRow(rule: Rule): Insertable<Tables[Table]>
}

/** `own`: the columns that only this table has. */
export function ruleRows<Table extends RuleTable, Own extends Shapes, Body extends object>(
  table: Table,
  own: Own,
  body: Shape<Body>,
): RuleRows<Table, Shaped<typeof COMMON> & Shaped<Own> & Body> {
  const rows = shapedRows(table, (row) => (row as Stored).id, { ...COMMON, ...own })
  return {
    fromRow: (row) => ({
      ...rows.fromRow(row),
      ...reading(table, (row as Stored).id, row as Stored)('body', json(body)),
    }),
    toRow: (rule) => ({ ...rows.toRow(rule), body: JSON.stringify(body(rule)) }) as never,
  }
}

type Stored = Readonly<Record<'id' | 'body', string>>

export function ruleTable<Table extends RuleTable, Rule>(
  db: Kysely<Tables>,
  table: Table,
  fromRow: (row: Selectable<Tables[Table]>) => Rule,
) {
  type Row = Selectable<Tables[Table]>
  return {
    find: (id: string) => findRow(db, table, { id } as Where<Table>, fromRow),

    async list(): Promise<readonly Rule[]> {
      const { rows } = await sql<Row>`select * from ${sql.table(table)} order by name`.execute(db)
      return rows.map(fromRow)
    },

    remove: (id: string) => deleteRow(db, table, { id } as Where<Table>),
  }
}
