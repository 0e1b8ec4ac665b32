/**
 * A list query: which rows, in which order, which page. API 2. A filter is a tree whose leaves are fields of the list
 * and values of their types; the store translates it to SQL.
 *
 * A field has one value, none, or several (`anyOf`); a leaf is true if one of them matches. There is no third truth
 * value: a missing value matches nothing, and `not` – and with it `!=` – is the exact opposite, so it includes missing
 * values.
 */
import type { Instant } from '../../base/time/instant.ts'
import type { Page } from '../paging.ts'

export type FieldType = 'text' | 'number' | 'boolean' | 'time'

/** A field for filtering and sorting. `isList`: several texts, filtered with `anyOf(…)`, not sortable. */
export interface ListField {
  readonly type: FieldType
  readonly isList?: true
}

/** The fields of a list by their names in the API, and tags if `hasTags` is set. */
export interface ListFields<Name extends string = string> {
  readonly fields: Readonly<Record<Name, ListField>>
  readonly hasTags: boolean
  /** Other names that a filter and a sort may use for a field; not in `filterableFields`. */
  readonly aliases?: Readonly<Record<string, Name>>
}

export type FilterValue = string | number | boolean | Instant

/** `field`: a name of the list's fields. `list`: one that has several values. `tag`: a member of its tags. */
export interface FieldReference {
  readonly kind: 'field' | 'list' | 'tag'
  readonly name: string
}

/** There is no `!=`: it is `not` around `=`. */
export type Comparator = '=' | '<' | '<=' | '>' | '>='

export type Filter =
  /** Without parts: true for `and`, false for `or`. */
  | { readonly op: 'and' | 'or'; readonly parts: readonly Filter[] }
  | { readonly op: 'not'; readonly part: Filter }
  /** The value is missing. */
  | { readonly op: 'null'; readonly field: FieldReference }
  | (Test & { readonly field: FieldReference })

/** The test of a value. A value of another type than the operand does not match. */
export type Test =
  | { readonly op: 'compare'; readonly comparator: Comparator; readonly value: FilterValue }
  | { readonly op: 'between'; readonly from: FilterValue; readonly to: FilterValue }
  | { readonly op: 'in'; readonly values: readonly FilterValue[] }
  | { readonly op: 'contains'; readonly text: string; readonly ignoresCase: boolean }

export interface Order {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

export interface ListQuery extends Page {
  readonly filter?: Filter | undefined
  /**
   * Undefined: the list's default order. Texts are ordered by code point; missing values come last, or first with
   * `desc`. The id is the last key, in the direction of the last order, so that pages never overlap.
   */
  readonly orders?: readonly Order[] | undefined
}

/** The `filterableFields` of API 2. */
export function namesOf({ fields, hasTags }: ListFields): readonly string[] {
  return [...Object.keys(fields), ...(hasTags ? ['tags'] : [])]
}

/** Returns the name of the field that a caller means, which may not exist. */
export function resolvedName({ aliases = {} }: ListFields, name: string): string {
  return (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name
}

/** `hasOwn`: `constructor` is not a field. */
export function fieldNamed({ fields }: ListFields, name: string): ListField | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}
