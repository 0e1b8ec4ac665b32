/**
 * Parses untrusted JSON: limited depth (D-44), and no duplicate members, because two parsers would choose different
 * ones (R014, R059).
 */
import { fromUtf8 } from './encoding.ts'
import { attempt } from './node/attempt.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether the value is a string and not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Whether the value is a list of strings, which may be empty. */
export function areStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** The size of a JSON text in terms other than its length. */
export interface JsonShape {
  /** The greatest depth of nested brackets. */
  readonly depth: number
  /** Members and elements at every depth. An empty object or list counts as one. */
  readonly entries: number
}

/**
 * Returns the shape that a text has if it is valid JSON. Reads each character once and creates none of the values, so
 * that limits can be checked before the text is parsed.
 */
export function shapeOf(text: string): JsonShape {
  let open = 0
  let depth = 0
  let entries = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endOfString(text, at) - 1
    else if (character === COMMA) entries += 1
    else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      entries += 1
      open += 1
      if (open > depth) depth = open
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) open -= 1
  }
  return { depth, entries }
}

/**
 * Returns the value of a JSON text, or of its bytes in UTF-8; undefined if it is not valid, is nested too deeply or
 * repeats a member.
 */
export function parseJson(
  source: string | Uint8Array | undefined,
  deepest: number,
): { readonly value: unknown } | undefined {
  const text = typeof source === 'string' ? source : source && fromUtf8(source)
  if (text === undefined || shapeOf(text).depth > deepest) return undefined
  const parsed = attempt(() => ({ value: JSON.parse(text) }))
  return parsed && hasDistinctNames(text) ? parsed : undefined
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Walks a text that is known to be valid JSON, so it checks only brackets, commas and strings. */
function hasDistinctNames(text: string): boolean {
  /** One entry for each open bracket: the member names so far, or undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let expectsName = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) {
      const end = endOfString(text, at)
      const names = open.at(-1)
      if (names !== undefined && expectsName) {
        const name = JSON.parse(text.slice(at, end)) as string
        if (names.has(name)) return false
        names.add(name)
        expectsName = false
      }
      at = end - 1
    } else if (character === OPEN_OBJECT || character === OPEN_LIST) {
      open.push(character === OPEN_OBJECT ? new Set() : undefined)
      expectsName = character === OPEN_OBJECT
    } else if (character === CLOSE_OBJECT || character === CLOSE_LIST) {
      open.pop()
      expectsName = false
    } else if (character === COMMA) {
      expectsName = open.at(-1) !== undefined
    }
  }
  return true
}

/** Returns where the string that begins at `start` ends. Not a RegExp: those fail on strings of some megabytes. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  for (let character = text.charCodeAt(at); at < text.length && character !== QUOTE; ) {
    at += character === BACKSLASH ? 2 : 1
    character = text.charCodeAt(at)
  }
  return at + 1
}
