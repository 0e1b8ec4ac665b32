/**
 * The keys of a file as plain data, derived from its schema: for the documentation, for the file in a new home, and for
 * messages that suggest the nearest key. Without a list of keys, those of `controller.yml` are meant.
 */
import { z } from 'zod'
import type { DurationRule } from './durations.ts'
import { ControllerFile } from './schema.ts'
import { distance } from './shown/distance.ts'
import { durationRules, type KeyFacts, keyFacts } from './values.ts'

export interface Key {
  readonly name: string
  /** From the root of the file: `web[].bindPoints[].address`. */
  readonly path: string
  readonly facts: KeyFacts
  /** The default as operators would write it; undefined if there is none. */
  readonly usual: unknown
  readonly mayBeLeftOut: boolean
  readonly isList: boolean
  /** Undefined for any other kind of value. */
  readonly duration: DurationRule | undefined
  /** The keys of a section, or of each entry of a list of sections. */
  readonly children: readonly Key[]
}

export const KEYS: readonly Key[] = keysOf(ControllerFile)

/** The keys of a schema that is built of the values in `values.ts`. */
export function keysOf(schema: z.core.$ZodType): readonly Key[] {
  return look('', '', schema).children
}

/** Every key, parents first, in the order of the file. */
export function allKeys(keys: readonly Key[] = KEYS): readonly Key[] {
  return keys.flatMap((key) => [key, ...allKeys(key.children)])
}

/** Returns the key at a path of a parsed file, including list positions; undefined for an unknown key. */
export function keyAt(path: readonly PropertyKey[], keys: readonly Key[] = KEYS): Key | undefined {
  let children = keys
  let key: Key | undefined
  for (const name of path) {
    if (typeof name === 'number') continue
    key = children.find((child) => child.name === name)
    if (key === undefined) return undefined
    children = key.children
  }
  return key
}

/** Returns `web[0].name`. Unknown names are shortened, and quoted if they could confuse a terminal. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    const name = String(part).slice(0, MAX_COMPARED)
    const shown = /^[\w-]+$/.test(name) ? name : JSON.stringify(name)
    return text === '' ? shown : `${text}.${shown}`
  }, '')
}

/**
 * Returns what to say about an unknown key: where that name is valid, the nearest key beside it, or the keys that are
 * valid there.
 */
export function suggestKey(path: readonly PropertyKey[], keys: readonly Key[] = KEYS): string {
  const parent = path.slice(0, -1)
  const name = String(path.at(-1)).slice(0, MAX_COMPARED).toLowerCase()
  const beside = (parent.length === 0 ? keys : (keyAt(parent, keys)?.children ?? [])).map(
    (key) => key.name,
  )
  const nearest = beside
    .map((known) => ({ known, distance: distance(name, known.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0]
  const isNear = (limit: number): boolean => nearest !== undefined && nearest.distance <= limit
  const elsewhere = allKeys(keys).find((key) => key.name.toLowerCase() === name)

  if (elsewhere !== undefined && !isNear(0)) return `did you mean ${elsewhere.path}?`
  if (nearest !== undefined && isNear(Math.max(1, Math.floor(name.length / 3)))) {
    return `did you mean ${formatPath([...parent, nearest.known])}?`
  }
  return `known here: ${beside.join(', ')}`
}

// Longer than every key of ours; comparing longer names would be wasted work.
const MAX_COMPARED = 64

/** Unwraps a zod type, collecting its metadata, until a section, a list or a value is left. */
function look(name: string, path: string, schema: z.core.$ZodType): Key {
  let facts: KeyFacts | undefined
  let duration: DurationRule | undefined
  let usual: unknown
  let mayBeLeftOut = false
  let inner = schema
  for (;;) {
    facts ??= keyFacts.get(inner)
    duration ??= durationRules.get(inner)
    if (inner instanceof z.ZodPrefault) {
      usual = inner.def.defaultValue
      mayBeLeftOut = true
      inner = inner.def.innerType
    } else if (inner instanceof z.ZodOptional) {
      mayBeLeftOut = true
      inner = inner.def.innerType
    } else if (inner instanceof z.ZodPipe) {
      // The value is at the end of the pipe of a preprocessed type, and at the beginning of a transformed one.
      inner = inner.def.in instanceof z.ZodTransform ? inner.def.out : inner.def.in
    } else break
  }
  if (facts === undefined) throw new Error(`the key ${path} has no facts in schema.ts`)
  const isList = inner instanceof z.ZodArray
  const children = childrenOf(path, inner)
  return { name, path, facts, usual, mayBeLeftOut, isList, duration, children }
}

function childrenOf(path: string, schema: z.core.$ZodType): readonly Key[] {
  if (schema instanceof z.ZodArray) return look('', `${path}[]`, schema.def.element).children
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape).map(([name, value]) =>
    look(name, path === '' ? name : `${path}.${name}`, value),
  )
}
