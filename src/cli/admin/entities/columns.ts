/** A table column of an entity: its title, its path in the response, and its format for display. */
import { isJsonObject } from '../../../base/json.ts'

export interface Column {
  readonly title: string
  /** Separated by dots; a missing member is empty. */
  readonly path: string
  readonly as?: 'text' | 'truth' | 'time'
}

export type Row = Readonly<Record<string, unknown>>

export function cellsOf(columns: readonly Column[], row: Row): readonly string[] {
  return columns.map(({ path, as = 'text' }) => cellOf(valueAt(row, path), as))
}

/** Shows one entity in full: a line for each member, nested ones with dots. Links are for programs, so left out. */
export function detailsOf(row: Row): readonly (readonly [name: string, text: string])[] {
  return Object.entries(row).flatMap(([name, value]) => {
    if (name === '_links') return []
    if (isReference(value)) return [[name, `${value.name} (${value.id})`] as const]
    if (isJsonObject(value)) {
      const inner = detailsOf(value)
      if (inner.length === 0) return [[name, '']]
      return inner.map(([member, text]) => [`${name}.${member}`, text] as const)
    }
    return [[name, cellOf(value, typeof value === 'boolean' ? 'truth' : 'text')] as const]
  })
}

export function valueAt(row: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (isJsonObject(at) ? Reflect.get(at, name) : undefined), row)
}

function cellOf(value: unknown, as: NonNullable<Column['as']>): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) {
    return value
      .map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)))
      .join(', ')
  }
  switch (as) {
    case 'truth':
      return value === true ? 'yes' : 'no'
    case 'time':
      // Milliseconds are only noise here; --json has them.
      return String(value).replace(/\.\d+Z$/, 'Z')
    default:
      // D-318: with the compatibility layer, the type of an identity is a reference too.
      if (isReference(value)) return value.name
      if (typeof value === 'object') return JSON.stringify(value)
      return PEM.test(String(value)) ? 'PEM, with --json' : String(value)
  }
}

/** Multi-line values, which are unreadable on one line. */
const PEM = /^\s*-----BEGIN /

function isReference(value: unknown): value is { readonly id: string; readonly name: string } {
  return (
    isJsonObject(value) && typeof value['id'] === 'string' && 'name' in value && 'entity' in value
  )
}
