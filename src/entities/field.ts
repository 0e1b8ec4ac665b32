/**
 * How an entity is described (D-270): each field once, with all that the store, the lists, the APIs and the command
 * line need to know about it. The types of the entity, of its row and of its JSON are derived from the description. A
 * fact that only one place needs stays there: what a body may contain is in contract/, a computed value in http/.
 * D-270.
 */
import type { Instant } from '../base/time/instant.ts'

/** API 1: a flat map. */
export type Tags = Readonly<Record<string, string | number | boolean | null>>

/** The types of field values, by `type`. */
interface Values {
  readonly text: string
  readonly number: number
  readonly boolean: boolean
  readonly time: Instant
  readonly texts: readonly string[]
  readonly map: Tags
  /** Texts by name. */
  readonly 'text-map': Readonly<Record<string, string>>
  /** JSON values by name. */
  readonly 'any-map': Readonly<Record<string, unknown>>
  /** Another entity: its id, its name and a link. Always computed. */
  readonly reference: never
}

export interface Field {
  readonly type: keyof Values
  /** A narrower type than `type` says: `of: as<IdentityId>()`. */
  readonly of?: Narrowed<unknown>
  /** The allowed values of a text. */
  readonly choices?: readonly string[]
  readonly isOptional?: true
  /** Its column in a written-out row, if the name differs from the field's. */
  readonly column?: string
  /** Not stored: an answer computes it. */
  readonly isComputed?: true
  /** Lists filter by it and, unless it has several values, sort by it. API 2. */
  readonly isListed?: true
  /** Set by an administrator: PUT and PATCH change it. */
  readonly isWritable?: true
  /**
   * `self`: responses about a caller's own entity include it. `administrator`: only the management API. Default: none.
   */
  readonly shownTo?: 'self' | 'administrator'
  /** For the API documents. */
  readonly description?: string
  /** The title of its column, if the tables of the command line include it. */
  readonly title?: string
  readonly option?: CliOption
}

/** The option that sets a field: `--NAME`. The type of the field determines the format of the value. */
export interface CliOption {
  readonly name: string
  readonly what: string
  /** The placeholder for a text or number in the help. */
  readonly value?: string
  /** `--no-NAME` clears it. */
  readonly canClear?: true
  /** The value names another entity. */
  readonly to?: 'policy' | 'signer' | 'ca' | 'identity'
  /** The value names a file: its content, or its first line. */
  readonly from?: 'file' | 'first-line'
}

export type Fields = Readonly<Record<string, Field>>

declare const narrowed: unique symbol
export interface Narrowed<T> {
  readonly [narrowed]?: T
}

export function as<T>(): Narrowed<T> {
  return {}
}

type NamesWith<F extends Fields, Part> = {
  [Name in keyof F & string]: F[Name] extends Part ? Name : never
}[keyof F & string]

export type StoredName<F extends Fields> = Exclude<
  keyof F & string,
  NamesWith<F, { isComputed: true }>
>
export type WritableName<F extends Fields> = NamesWith<F, { isWritable: true }>
export type ListedName<F extends Fields> = NamesWith<F, { isListed: true }>
export type SelfName<F extends Fields> = NamesWith<F, { shownTo: 'self' }>
export type ShownName<F extends Fields> = NamesWith<F, { shownTo: 'self' | 'administrator' }>

export type ValueOf<F extends Field> = F extends { of: Narrowed<infer T> }
  ? T
  : F extends { choices: readonly (infer Choice)[] }
    ? Choice
    : Values[F['type']]

/** The entity in the domain. */
export type EntityOf<F extends Fields> = {
  readonly [Name in StoredName<F>]: F[Name] extends { isOptional: true }
    ? ValueOf<F[Name]> | undefined
    : ValueOf<F[Name]>
}

/** Its row: booleans are 0 or 1, lists and maps are JSON. */
export type RowOf<F extends Fields> = {
  [Name in StoredName<F> as ColumnOf<Name>]: F[Name] extends { isOptional: true }
    ? CellOf<F[Name]> | null
    : CellOf<F[Name]>
}

type CellOf<F extends Field> = F['type'] extends 'boolean'
  ? number
  : F['type'] extends 'texts' | 'map' | 'text-map' | 'any-map'
    ? string
    : F extends { choices: readonly string[] }
      ? string
      : ValueOf<F>

/** `lastLoginAt` is in the column `last_login_at`. */
export type ColumnOf<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${ColumnOf<Rest>}`
    : `_${Lowercase<First>}${ColumnOf<Rest>}`
  : ''

export function columnOf<Name extends string>(name: Name): ColumnOf<Name> {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as ColumnOf<Name>
}

export function writableNames<F extends Fields>(fields: F): readonly WritableName<F>[] {
  const names = Object.keys(fields) as WritableName<F>[]
  return names.filter((name) => fields[name]?.isWritable === true)
}
