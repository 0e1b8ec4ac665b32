/**
 * Converts a filter to a SQL condition. API 2. SQL has a third truth value, the filter has two: every `not` is written
 * as `is not true`, and a result that is still unknown does not match.
 */
import { sql } from 'kysely'
import { lettersOf } from '../../domain/lists/letters.ts'
import type { FieldReference, Filter, FilterValue, Test } from '../../domain/lists/list-query.ts'
import type { Expression, ListFacts } from '../dialects/list-facts.ts'

/** Returns the column of a field; that of tags is `tags`. */
export type ColumnOf = (field: string) => Expression

export function condition(filter: Filter, columnOf: ColumnOf, facts: ListFacts): Expression {
  const within = (part: Filter): Expression => condition(part, columnOf, facts)
  switch (filter.op) {
    case 'and':
      return joined(filter.parts.map(within), sql` and `, sql`true`)
    case 'or':
      return joined(filter.parts.map(within), sql` or `, sql`false`)
    case 'not':
      // This form lets the database use a partial index on rows with a value.
      if (filter.part.op === 'null' && filter.part.field.kind === 'field') {
        return sql`${columnOf(filter.part.field.name)} is not null`
      }
      return sql`(${within(filter.part)}) is not true`
    default:
      return ofField(filter, columnOf, facts)
  }
}

function joined(parts: readonly Expression[], by: Expression, none: Expression): Expression {
  return parts.length === 0 ? none : sql`(${sql.join(parts, by)})`
}

type OfField = Extract<Filter, { readonly field: FieldReference }>

/** A test of a field, or whether it is missing. */
function ofField(filter: OfField, columnOf: ColumnOf, facts: ListFacts): Expression {
  const { kind, name } = filter.field
  const column = columnOf(kind === 'tag' ? 'tags' : name)
  switch (kind) {
    case 'field':
      return filter.op === 'null' ? sql`${column} is null` : holds(filter, () => column, facts)
    case 'list':
      return filter.op === 'null'
        ? sql`(${facts.anyElement(column, () => sql`true`)}) is not true`
        : facts.anyElement(column, (element) => holds(filter, () => element, facts))
    case 'tag':
      return filter.op === 'null'
        ? sql`${facts.tag(column, name, 'any')} is null`
        : holds(filter, (type) => facts.tag(column, name, type), facts)
  }
}

type Type = 'text' | 'number' | 'boolean'

/** `valueAs` returns the value to test, or null if it is of another type. */
function holds(test: Test, valueAs: (type: Type) => Expression, facts: ListFacts): Expression {
  const isOf = (value: FilterValue): Expression => valueAs(typeOf(value))
  switch (test.op) {
    case 'compare':
      return sql`${isOf(test.value)} ${sql.raw(test.comparator)} ${bound(test.value)}`
    case 'between':
      return sql`(${isOf(test.from)} >= ${test.from} and ${isOf(test.to)} <= ${test.to})`
    case 'in': {
      const groups = [...Map.groupBy(test.values, typeOf)].map(
        ([type, values]) => sql`${valueAs(type)} in (${sql.join(values.map(bound))})`,
      )
      return joined(groups, sql` or `, sql`false`)
    }
    case 'contains':
      return test.ignoresCase
        ? facts.containsLetters(valueAs('text'), lettersOf(test.text))
        : facts.contains(valueAs('text'), test.text)
  }
}

function typeOf(value: FilterValue): Type {
  return typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'boolean'
}

/** A boolean is 0 or 1. */
function bound(value: FilterValue): string | number {
  return typeof value === 'boolean' ? Number(value) : value
}
