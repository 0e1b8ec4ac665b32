/**
 * Converts an entity to and from its row by its description (entities/): a boolean is 0 or 1, lists and maps are JSON,
 * missing is null. Rows are checked when they are read (`reading.ts`).
 */
import type { Insertable, Selectable } from 'kysely'
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
  fromRow(row: Readonly<Record<keyof RowOf<F>, unknown>>): EntityOf<F>
  toRow(entity: EntityOf<F>): RowOf<F>
  /** Only the columns of these fields. */
  toChanges(changed: Partial<EntityOf<F>>): Partial<RowOf<F>>
}

export function describedRows<F extends Fields>(table: keyof Tables, fields: F): DescribedRows<F> {
  const stored = Object.entries(fields).filter(([, field]) => field.isComputed !== true)
  const shapes = stored.map(([name, field]) => [name, shapeOf(field)] as const)
  const rows = convertRows(table, ({ id }) => id, shapes)
  const described: unknown = { ...rows, toChanges: rows.toRow }
  return described as DescribedRows<F>
}

export type Shapes = Readonly<Record<string, Shape<unknown>>>
export type Shaped<S extends Shapes> = { readonly [Name in keyof S]: ReturnType<S[Name]> }

interface ShapedRows<Table extends keyof Tables, S extends Shapes> {
  fromRow(row: Selectable<Tables[Table]>): Shaped<S>
  toRow(
    entity: Shaped<S>,
  ): Pick<Insertable<Tables[Table]>, ColumnOf<keyof S & string> & keyof Insertable<Tables[Table]>>
}

/** For what has no description: every member is in the column of its name. `keyOf` identifies a damaged row. */
export function shapedRows<Table extends keyof Tables, S extends Shapes>(
  table: Table,
  keyOf: (row: Selectable<Tables[Table]>) => string,
  shapes: S,
): ShapedRows<Table, S> {
  const rows: unknown = convertRows(table, keyOf as KeyOf, Object.entries(shapes))
  return rows as ShapedRows<Table, S>
}

type KeyOf = (row: Readonly<Record<string, unknown>>) => unknown

function convertRows(
  table: keyof Tables,
  keyOf: KeyOf,
  shapes: readonly (readonly [string, Shape<unknown>])[],
) {
  const members = shapes.map(([name, shape]) => ({ name, column: columnOf(name), shape }))
  return {
    columns: members.map(({ column }) => column),
    fromRow(row: Readonly<Record<string, unknown>>) {
      const read = reading(table, String(keyOf(row)), row)
      const entity: Record<string, unknown> = {}
      for (const { name, column, shape } of members) entity[name] = read(column, shape)
      return entity
    },
    toRow(entity: Readonly<Record<string, unknown>>) {
      const given = members.filter(({ name }) => Object.hasOwn(entity, name))
      return Object.fromEntries(given.map(({ name, column }) => [column, cellOf(entity[name])]))
    },
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
    case 'any-map':
      return json(mapOf((value) => value))
    case 'reference':
      throw new Error('a reference is computed, and in no row')
  }
}

function cellOf(value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'object' ? JSON.stringify(value) : value
}
