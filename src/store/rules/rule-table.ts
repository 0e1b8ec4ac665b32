/** Common to the tables of rules: get one by id, list all by name, and delete one. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { isStorable } from '../../base/text.ts'
import type { Tables } from '../tables.ts'

type RuleTable = 'auth_policies' | 'cas' | 'external_jwt_signers'

export function ruleTable<Table extends RuleTable, Rule>(
  db: Kysely<Tables>,
  table: Table,
  fromRow: (row: Selectable<Tables[Table]>) => Rule,
) {
  type Row = Selectable<Tables[Table]>
  const from = sql`from ${sql.table(table)}`
  return {
    async find(id: string): Promise<Rule | undefined> {
      if (!isStorable(id)) return undefined
      const { rows } = await sql<Row>`select * ${from} where id = ${id}`.execute(db)
      return rows[0] && fromRow(rows[0])
    },

    async list(): Promise<readonly Rule[]> {
      const { rows } = await sql<Row>`select * ${from} order by name`.execute(db)
      return rows.map(fromRow)
    },

    async remove(id: string): Promise<boolean> {
      const { numAffectedRows } = await sql`delete ${from} where id = ${id}`.execute(db)
      return numAffectedRows === 1n
    },
  }
}
