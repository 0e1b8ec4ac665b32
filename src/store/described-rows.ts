/**
 * Converts an entity to and from its row by its description (entities/): a boolean is 0 or 1, lists and maps are JSON,
 * missing is null. Rows are checked when they are read (`reading.ts`).
 */
import type { Instant } from '../base/time/instant.ts'
import {
  type ColumnOf,
  columnOf,
  type EntityOf,
  type Field,
  type Fields,
  type ListedName,
  type RowOf,
} from '../entities/field.ts'
import {
  integer,
  json,
  listOf,
  mapOf,
  oneOf,
  optional,
  reading,
  type Shape,
  tags,
  text,
  truth,
} from './reading.ts'
import type { Tables } from './tables.ts'

export interface DescribedRows<F extends Fields> {
  readonly columns: readonly (keyof RowOf<F> & string)[]
  /** Every column is checked, so a row of a table with more, or more optional, columns is accepted. */
  fromRow(row: { readonly id: string } & Readonly<Record<keyof RowOf<F>, unknown>>): EntityOf<F>
  toRow(entity: EntityOf<F>): RowOf<F>
  /** Only the columns of these fields. */
  toChanges(changed: Partial<EntityOf<F>>): Partial<RowOf<F>>
}

export function describedRows<F extends Fields>(table: keyof Tables, fields: F): DescribedRows<F> {
  const stored = Object.entries(fields)
    .filter(([, field]) => field.isComputed !== true)
    .map(([name, field]) => ({ name, column: columnOf(name), shape: shapeOf(field) }))

  function toChanges(changed: Readonly<Record<string, unknown>>) {
    const given = stored.filter(({ name }) => Object.hasOwn(changed, name))
    return Object.fromEntries(given.map(({ name, column }) => [column, cellOf(changed[name])]))
  }

  return {
    columns: stored.map(({ column }) => column) as (keyof RowOf<F> & string)[],
    fromRow(row) {
      const read = reading<Record<string, unknown>>(table, row.id, row)
      const entity: Record<string, unknown> = {}
      for (const { name, column, shape } of stored) entity[name] = read(column, shape)
      return entity as EntityOf<F>
    },
    toRow: (entity) => toChanges(entity) as RowOf<F>,
    toChanges: (changed) => toChanges(changed) as Partial<RowOf<F>>,
  }
}

/** Where the fields of a list are stored. */
export function listColumns<F extends Fields>(
  fields: F,
): {
  readonly [Name in ListedName<F>]: F[Name] extends { column: infer Column }
    ? Column
    : ColumnOf<Name>
} {
  const listed = Object.entries(fields).filter(([, { isListed }]) => isListed === true)
  const pairs = listed.map(([name, { column }]) => [name, column ?? columnOf(name)])
  return Object.fromEntries(pairs)
}

function shapeOf(field: Field): Shape<unknown> {
  return field.isOptional === true ? optional(givenShape(field)) : givenShape(field)
}

function givenShape({ type, choices }: Field): Shape<unknown> {
  switch (type) {
    case 'text':
      return choices === undefined ? text : oneOf(...choices)
    case 'number':
      return integer
    case 'boolean':
      return truth
    case 'time':
      return integer<Instant>
    case 'texts':
      return json(listOf(text))
    case 'map':
      return json(tags)
    case 'text-map':
      return json(mapOf(text))
    case 'reference':
      throw new Error('a reference is computed, and in no row')
  }
}

function cellOf(value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'object' ? JSON.stringify(value) : value
}
