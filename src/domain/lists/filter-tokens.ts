/** The tokens of a filter text, each with the column where it begins. API 2. */

export type Token =
  | { readonly kind: 'word'; readonly text: string; readonly column: number }
  | { readonly kind: 'text'; readonly value: string; readonly column: number }
  | { readonly kind: 'number'; readonly value: number; readonly column: number }
  /** A time without quotes, inside `datetime(…)`; it is validated later. */
  | { readonly kind: 'time'; readonly text: string; readonly column: number }
  | { readonly kind: 'sign'; readonly text: string; readonly column: number }
  | { readonly kind: 'end'; readonly column: number }

/** What is wrong with a filter, and where: a column counted from 1. */
export class FilterFault extends Error {
  readonly column: number

  constructor(reason: string, column: number) {
    super(reason)
    this.name = 'FilterFault'
    this.column = column
  }
}

const BLANKS = /\s*/y
const TEXT = /"(?:[^"\\]|\\["\\])*"/y
const WORD = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+)*/y
// Matches everything that may be meant as a time, so that the error points to its start.
const TIME = /\d+-\d+-\d+[Tt][A-Za-z0-9:.+-]*/y
const NUMBER = /-?\d+(?:\.\d+)?/y
const SIGN = /!=|<=|>=|[=<>(),[\]]/y

/** The last token marks the end. Throws FilterFault. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  let column = 1
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found === undefined) return undefined
    at += found.length
    column += [...found].length
    return found
  }

  function next(): Token {
    const begin = column
    const quoted = take(TEXT)
    if (quoted !== undefined) return { kind: 'text', value: unquote(quoted), column: begin }
    if (text[at] === '"') {
      throw new FilterFault('a text has no closing quote, or a \\ before neither " nor \\', begin)
    }
    const word = take(WORD)
    if (word !== undefined) return { kind: 'word', text: word, column: begin }
    const time = take(TIME)
    if (time !== undefined) return { kind: 'time', text: time, column: begin }
    const number = take(NUMBER)
    if (number !== undefined) return { kind: 'number', value: finite(number, begin), column: begin }
    const sign = take(SIGN)
    if (sign !== undefined) return { kind: 'sign', text: sign, column: begin }
    throw new FilterFault('is not understood', begin)
  }

  for (take(BLANKS); at < text.length; take(BLANKS)) tokens.push(next())
  return [...tokens, { kind: 'end', column }]
}

function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(["\\])/g, '$1')
}

/** Databases do not accept infinity as a number. */
function finite(text: string, column: number): number {
  const value = Number(text)
  if (!Number.isFinite(value)) throw new FilterFault('a number is too large', column)
  return value
}
