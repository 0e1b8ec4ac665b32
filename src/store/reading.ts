/**
 * Reads rows back. Checks what the database cannot guarantee: the shape of JSON, known keywords, a value where the
 * state needs one. An error names the table, key and column of the row, never its content, because the message is
 * logged.
 */
import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { Tables } from './tables.ts'

/** Returns the value with its checked type, or throws. */
export type Shape<T> = (value: unknown) => T

/** Reads the columns of one row: `read('body', json(BODY))`. */
export function reading<Row extends object>(table: keyof Tables, key: string, row: Row) {
  return <T>(column: keyof Row & string, shape: Shape<T>): T => {
    try {
      return shape(row[column])
    } catch {
      // The cause is left out: a JSON error quotes what it could not parse.
      throw new Error(`table ${table}, row ${key}: the column ${column} is damaged`)
    }
  }
}

export function text<T extends string = string>(value: unknown): T {
  return expect(typeof value === 'string', value as T)
}

export function integer<T extends number = number>(value: unknown): T {
  return expect(Number.isSafeInteger(value), value as T)
}

export function boolean(value: unknown): boolean {
  return expect(typeof value === 'boolean', value as boolean)
}

/** 0 or 1. */
export function truth(value: unknown): boolean {
  return expect(value === 0 || value === 1, value === 1)
}

export function oneOf<T extends string>(...words: readonly T[]): Shape<T> {
  return (value) => expect(words.includes(value as T), value as T)
}

export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value) => (value === null || value === undefined ? undefined : shape(value))
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value) => expect(Array.isArray(value), value as unknown[]).map(shape)
}

export function mapOf<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value) =>
    Object.fromEntries(Object.entries(plainObject(value)).map(([name, v]) => [name, shape(v)]))
}

/** Exactly these members; others are dropped. */
export function object<Members extends Record<string, Shape<unknown>>>(
  members: Members,
): Shape<{ readonly [Name in keyof Members]: ReturnType<Members[Name]> }> {
  const shapes = Object.entries(members)
  return (value) => {
    const given = plainObject(value)
    const checked: Record<string, unknown> = {}
    for (const [name, shape] of shapes) checked[name] = shape(given[name])
    return checked as { readonly [Name in keyof Members]: ReturnType<Members[Name]> }
  }
}

/** API 1: the values of tags and app data. */
export const tags = mapOf((value): string | number | boolean | null => {
  const isFit = value === null || ['string', 'number', 'boolean'].includes(typeof value)
  return expect(isFit, value as string | number | boolean | null)
})

export function json<T>(shape: Shape<T>): Shape<T> {
  return (value) => shape(JSON.parse(text(value)))
}

function plainObject(value: unknown): JsonObject {
  return expect(isJsonObject(value), value as JsonObject)
}

function expect<T>(fits: boolean, value: T): T {
  if (!fits) throw new TypeError('unfit')
  return value
}
