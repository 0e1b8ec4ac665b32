/** Builds filters. A value may come from a caller. */
import { isStorable } from '../../base/text.ts'
import type { Comparator, FieldReference, Filter, FilterValue, Test } from './list-query.ts'

export const TRUE: Filter = { op: 'and', parts: [] }
export const FALSE: Filter = { op: 'or', parts: [] }

export function equals(name: string, value: FilterValue): Filter {
  return compares(name, '=', value)
}

export function compares(name: string, comparator: Comparator, value: FilterValue): Filter {
  return possible(fieldOf(name), { op: 'compare', comparator, value })
}

/** Upper and lower case are the same. */
export function contains(name: string, text: string): Filter {
  return possible(fieldOf(name), { op: 'contains', text, ignoresCase: true })
}

export function isAmong(name: string, values: readonly FilterValue[]): Filter {
  return values.length === 0 ? FALSE : possible(fieldOf(name), { op: 'in', values })
}

export function allOf(...parts: readonly Filter[]): Filter {
  return { op: 'and', parts }
}

export function anyOf(...parts: readonly Filter[]): Filter {
  return { op: 'or', parts }
}

/** A text with NUL or a lone surrogate cannot be stored: it matches nothing and is not sent to a database. */
export function possible(field: FieldReference, test: Test): Filter {
  if (test.op === 'in') return { ...test, field, values: test.values.filter(isPossible) }
  const values =
    test.op === 'compare'
      ? [test.value]
      : test.op === 'between'
        ? [test.from, test.to]
        : [test.text]
  return values.every(isPossible) ? { ...test, field } : FALSE
}

function isPossible(value: FilterValue): boolean {
  return typeof value !== 'string' || isStorable(value)
}

function fieldOf(name: string): FieldReference {
  return { kind: 'field', name }
}
