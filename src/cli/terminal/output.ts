/**
 * Output of a command: tables for users, JSON for programs. Texts that come from a server or from other users are
 * printed without characters that control a terminal.
 */
import { EXIT, type ExitCode, type Io } from './io.ts'

export interface Column<Row> {
  readonly title: string
  /** undefined and empty are shown as `-`. */
  readonly value: (row: Row) => string | number | boolean | undefined | null
}

export type Screen = Pick<Io, 'out' | 'columns' | 'hasColour'>

/** The minimum width of a column, whatever the terminal. */
const NARROWEST = 8
/** The maximum width, whatever a server sends, because every line is padded to it. */
const WIDEST = 512
const GAP = '  '

/** Aligned lines, titles first. If they are too wide for the screen, the widest columns are cut and end in `…`. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  screen: Pick<Screen, 'columns' | 'hasColour'> = { columns: undefined, hasColour: false },
): readonly string[] {
  const titles = columns.map(({ title }) => title)
  const cells = rows.map((row) => columns.map(({ value }) => shown(value(row))))
  const widths = titles.map((title, at) =>
    cells.reduce((widest, row) => Math.max(widest, cellWidth(row[at] ?? '')), widthOf(title)),
  )
  if (screen.columns !== undefined)
    narrow(widths, screen.columns - GAP.length * (columns.length - 1))
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => fitted(cell, widths[at] ?? 0))
      .join(GAP)
      .trimEnd()
  const head = line(titles)
  return [screen.hasColour ? `\x1b[1m${head}\x1b[22m` : head, ...cells.map(line)]
}

export function printTable<Row>(
  io: Screen,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): void {
  for (const one of table(rows, columns, io)) io.out(one)
}

/** For a single entity: one line per field. Nothing is cut. */
export function printFields(
  io: Pick<Io, 'out'>,
  fields: readonly (readonly [title: string, value: ReturnType<Column<unknown>['value']>])[],
): void {
  // Some names are keys chosen by a server or by other users, such as tags.
  const titles = fields.map(([title]) => plain(title))
  const width = titles.reduce((widest, title) => Math.max(widest, cellWidth(title)), 0)
  for (const [at, [, value]] of fields.entries()) {
    io.out(`${fitted(titles[at] ?? '', width)}${GAP}${shown(value)}`)
  }
}

/** For programs: one JSON text on several lines. Returns the exit code of a command that prints nothing else. */
export function printJson(io: Pick<Io, 'out'>, value: unknown): ExitCode {
  io.out(jsonOf(value, 2))
  return EXIT.ok
}

/**
 * Returns the value as JSON. The characters that `plain` replaces are escaped, so that the text is harmless and the
 * value stays the same (D-191).
 */
export function jsonOf(value: unknown, indent?: number): string {
  // JSON itself escapes line ends inside strings; the remaining ones are its own formatting.
  return JSON.stringify(value, undefined, indent).replace(DECEIVING, (match) =>
    match === '\n' ? match : escapedUnits(match),
  )
}

/**
 * Returns the text on one line, without characters that control a terminal, change the reading direction or are
 * invisible.
 */
export function plain(text: string): string {
  return text.replace(DECEIVING, REPLACEMENT)
}

/**
 * Control and format characters, halves of surrogate pairs, line ends, and invisible characters: D-191. C1 controls are
 * in Cc, bidi overrides and isolates in Cf.
 */
const DECEIVING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const REPLACEMENT = '\u{fffd}'

function escapedUnits(text: string): string {
  // By UTF-16 unit, not by code point: JSON escapes have 16 bits.
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/**
 * Wraps `io` and cleans every text that it prints, in case a command has forgotten to. Line ends, tabs and our own
 * styles are kept.
 */
export function guarded(io: Io): Io {
  const lines = (text: string) =>
    text.replace(STYLE_OR_DECEIVING, (match) => (isOurs(match) ? match : REPLACEMENT))
  return {
    out: (line) => io.out(lines(line)),
    err: (line) => io.err(lines(line)),
    ask: (question) => io.ask(lines(question)),
    askSecret: (question) => io.askSecret(lines(question)),
    progress: (text) => io.progress(text === undefined ? undefined : plain(text)),
    onInterrupt: (act) => io.onInterrupt(act),
    resolve: (path) => io.resolve(path),
    variables: io.variables,
    get input() {
      return io.input
    },
    errorStream: io.errorStream,
    bytes: io.bytes,
    isTerminal: io.isTerminal,
    get columns() {
      return io.columns
    },
    hasColour: io.hasColour,
    isInteractive: io.isInteractive,
  }
}

/** Bold, colors, and black on white for QR codes. */
const STYLE = '\\p{Cc}\\[(?:1|22|36|39|30;107|0)m'
const STYLE_OR_DECEIVING = new RegExp(`${STYLE}|${DECEIVING.source}`, 'gu')

function isOurs(text: string): boolean {
  return text === '\n' || text === '\t' || text.startsWith('\x1b[')
}

function shown(value: ReturnType<Column<unknown>['value']>): string {
  if (value === undefined || value === null || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return plain(String(value))
}

/** Shrinks the widest column, one character at a time, until all fit or none can get narrower. */
function narrow(widths: number[], room: number): void {
  for (let sum = widths.reduce((a, b) => a + b, 0); sum > room; sum -= 1) {
    const widest = Math.max(...widths)
    if (widest <= NARROWEST) return
    widths[widths.indexOf(widest)] = widest - 1
  }
}

/** A character takes zero to two columns, so a text that is far too long need not be measured. */
function cellWidth(text: string): number {
  return text.length > MOST_UNITS ? WIDEST : Math.min(WIDEST, widthOf(text))
}

const MOST_UNITS = 4 * WIDEST

function fitted(text: string, width: number): string {
  const own = text.length > MOST_UNITS ? Number.POSITIVE_INFINITY : widthOf(text)
  if (own <= width) return text + ' '.repeat(width - own)
  let cut = ''
  let taken = 0
  for (const character of text.slice(0, MOST_UNITS)) {
    if (taken + widthOf(character) > width - 1) break
    cut += character
    taken += widthOf(character)
  }
  return `${cut}…${' '.repeat(width - 1 - taken)}`
}

/** Width on a terminal: zero for combining marks, two for East Asian letters and for emoji. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue
    width += WIDE.test(character) ? 2 : 1
  }
  return width
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u
