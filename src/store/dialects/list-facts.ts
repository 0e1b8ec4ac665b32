/** What differs between the databases when a list is filtered (API 2). Expressions are SQL with bound parameters. */
import type { RawBuilder } from 'kysely'

export type Expression = RawBuilder<unknown>

export interface ListFacts {
  /** The text contains this part, case-sensitively. */
  contains(value: Expression, part: string): Expression
  /** The text contains a sequence of these sets of letters (`lettersOf`). */
  containsLetters(value: Expression, letters: readonly (readonly string[])[]): Expression
  /** The column holds a JSON list of strings, and one of them passes. */
  anyElement(column: Expression, passes: (element: Expression) => Expression): Expression
  /**
   * The member of a JSON map, or null if it is missing or not of that type. A boolean is 0 or 1. `any` shows only
   * whether it is null. The name consists only of letters, digits, `_`, `-` and `.`.
   */
  tag(column: Expression, name: string, type: 'text' | 'number' | 'boolean' | 'any'): Expression
  /** The same value, in a form that does not use the column's index. */
  withoutIndex(column: Expression): Expression
}
