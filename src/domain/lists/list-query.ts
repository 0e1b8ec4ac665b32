/**
 * What a list is asked for: which rows, in which order, which part of them. API 2. A filter is a tree whose leaves are
 * fields that the list names and values of their types; how it becomes SQL is the store's matter.
 *
 * A field has one value, none, or several (`anyOf`); a leaf holds when one of them passes. So there are only true and
 * false: what has no value passes nothing, and `not` – and with it `!=` – is the opposite, which takes it in.
 */
import type { Instant } from '../../base/time/instant.ts'
import type { Page } from '../paging.ts'

export type FieldType = 'text' | 'number' | 'boolean' | 'time'

/** One field that may be filtered and sorted by. `isList`: several texts, asked for with `anyOf(…)`, not sorted by. */
export interface ListField {
  readonly type: FieldType
  readonly isList?: true
}

/** Every field of a list that may be asked for, by its name on the wire; tags besides where `hasTags` says so. */
export interface ListFields<Name extends string = string> {
  readonly fields: Readonly<Record<Name, ListField>>
  readonly hasTags: boolean
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
  /** Without parts: true, and false. */
  | { readonly op: 'and' | 'or'; readonly parts: readonly Filter[] }
  | { readonly op: 'not'; readonly part: Filter }
  /** There is no value. */
  | { readonly op: 'null'; readonly field: FieldReference }
  | (Test & { readonly field: FieldReference })

/** What a value is asked. A value of another type than the one it is compared with does not pass. */
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
   * Undefined: the list's own order. Texts are ordered by code point; what has no value comes last, or first where the
   * direction is `desc`. Then comes the id, in the direction of the last order, so that pages never overlap.
   */
  readonly orders?: readonly Order[] | undefined
}

/** The ones of API 2's `filterableFields`. */
export function namesOf({ fields, hasTags }: ListFields): readonly string[] {
  return [...Object.keys(fields), ...(hasTags ? ['tags'] : [])]
}

/** `hasOwn`: `constructor` is no field. */
export function fieldNamed({ fields }: ListFields, name: string): ListField | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}
