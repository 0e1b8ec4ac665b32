/** What differs between the databases when a list is filtered (API 2). Expressions are SQL with bound parameters. */
import type { RawBuilder } from 'kysely'

export type Expression = RawBuilder<unknown>

export interface ListFacts {
  /** The text has this part, letter by letter. */
  contains(value: Expression, part: string): Expression
  /** The text has one of the given letters after the other (`lettersOf`). */
  containsLetters(value: Expression, letters: readonly (readonly string[])[]): Expression
  /** The column holds a list of texts in JSON, and one of them passes. */
  anyElement(column: Expression, passes: (element: Expression) => Expression): Expression
  /**
   * The member of a map in JSON, or null where it is not there or not of that type. A boolean is 0 or 1. `any` tells
   * only whether it is null. The name has letters, digits, `_`, `-` and `.` alone.
   */
  tag(column: Expression, name: string, type: 'text' | 'number' | 'boolean' | 'any'): Expression
  /** The same value, in a form that makes no use of the column's index. */
  withoutIndex(column: Expression): Expression
}
