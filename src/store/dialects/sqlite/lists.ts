/** List filters in SQLite: GLOB has character sets, JSON is read by paths, a unary plus disables a column's index. */
import { sql } from 'kysely'
import type { ListFacts } from '../list-facts.ts'

export const sqliteLists: ListFacts = {
  contains: (value, part) => sql`instr(${value}, ${part}) > 0`,

  containsLetters: (value, letters) => sql`${value} glob ${`*${letters.map(set).join('')}*`}`,

  anyElement: (column, passes) =>
    sql`exists (select 1 from json_each(${column}) where ${passes(sql.ref('value'))})`,

  tag(column, name, type) {
    const path = `$."${name}"`
    const found = sql`json_type(${column}, ${path})`
    const value = sql`json_extract(${column}, ${path})`
    switch (type) {
      case 'any':
        return value
      case 'text':
        return sql`case when ${found} = 'text' then ${value} end`
      case 'number':
        return sql`case when ${found} in ('integer', 'real') then ${value} end`
      case 'boolean':
        return sql`case when ${found} in ('true', 'false') then ${value} end`
    }
  },

  // SQLite assumes that every equality matches few rows.
  withoutIndex: (column) => sql`+${column}`,
}

function set(forms: readonly string[]): string {
  const [only = ''] = forms
  // Outside brackets these are wildcards; inside they are literal.
  const isPlain = forms.length === 1 && !['*', '?', '['].includes(only)
  return isPlain ? only : `[${forms.join('')}]`
}
