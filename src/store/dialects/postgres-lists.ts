/** List filters in PostgreSQL: regular expressions have character sets, JSON is read as jsonb, "C" is by code point. */
import { sql } from 'kysely'
import type { ListFacts } from './list-facts.ts'

export const postgresLists: ListFacts = {
  contains: (value, part) => sql`strpos(${value}, ${part}) > 0`,

  containsLetters: (value, letters) => sql`${value} ~ ${letters.map(set).join('')}`,

  anyElement: (column, passes) => sql`exists (
    select 1 from jsonb_array_elements_text(${column}::jsonb) as element (value)
    where ${passes(sql`(element.value collate "C")`)}
  )`,

  tag(column, name, type) {
    const member = sql`(${column}::jsonb -> ${name}::text)`
    const text = sql`(${column}::jsonb ->> ${name}::text)`
    // Only `case` guarantees the order of evaluation: a value of another type is never cast.
    switch (type) {
      case 'any':
        return text
      case 'text':
        return sql`(case when jsonb_typeof(${member}) = 'string' then ${text} end collate "C")`
      case 'number':
        return sql`case when jsonb_typeof(${member}) = 'number' then ${text}::numeric end`
      case 'boolean':
        return sql`case when jsonb_typeof(${member}) = 'boolean' then ${text}::boolean::integer end`
    }
  },

  // The planner of PostgreSQL knows how many rows have a value, and needs no hint.
  withoutIndex: (column) => column,
}

function set(forms: readonly string[]): string {
  if (forms.length > 1) return `[${forms.join('')}]`
  const [only = ''] = forms
  return /[a-z0-9]/i.test(only) || only > '\x7f' ? only : `\\${only}`
}
