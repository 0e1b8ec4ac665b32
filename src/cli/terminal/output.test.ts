import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { lineOf } from '../admin/events/events.ts'
import { explainedLines } from '../admin/events/explain.ts'
import { reportFailure } from './failures.ts'
import { CommandFailed, type Io } from './io.ts'
import { guarded, jsonOf, plain, printFields, printJson, printTable, table } from './output.ts'

interface Row {
  readonly name: string
  readonly what: string | undefined
}

const COLUMNS = [
  { title: 'NAME', value: ({ name }: Row) => name },
  { title: 'WHAT', value: ({ what }: Row) => what },
]

test('a table is aligned, and shows a dash where there is nothing', () => {
  const rows = [
    { name: 'a', what: 'one' },
    { name: 'longer', what: undefined },
  ]
  assert.deepEqual(table(rows, COLUMNS), ['NAME    WHAT', 'a       one', 'longer  -'])
})

test('a table fits the screen: the widest column is cut, and the others stay whole', () => {
  const rows = [{ name: 'short', what: 'x'.repeat(100) }]
  const lines = table(rows, COLUMNS, { columns: 30, hasColour: false })
  assert.deepEqual(lines, ['NAME   WHAT', `short  ${'x'.repeat(22)}…`])
  for (const line of lines) assert.ok([...line].length <= 30)
})

test('wide letters count as two columns, and marks on a letter as none', () => {
  const rows = [
    { name: '日本', what: '1' },
    { name: 'e\u0301e\u0301', what: '2' },
  ]
  assert.deepEqual(table(rows, COLUMNS), ['NAME  WHAT', '日本  1', 'e\u0301e\u0301    2'])
})

test('the titles are bold only where colour is wanted', () => {
  const [head = ''] = table([{ name: 'a', what: 'b' }], COLUMNS, { columns: 80, hasColour: true })
  assert.equal(head, '\u001b[1mNAME  WHAT\u001b[22m')
})

// Attack: an identity is named so that listing it changes what is on the screen.
test('what would steer a terminal is not printed', () => {
  const names = [
    '\u001b]0;title\u0007',
    'a\r\nb',
    '\u009b31m',
    'abc\u202etxt.exe',
    '\u2028',
    '\ud800',
  ]
  for (const name of names) {
    const lines: string[] = []
    const io = { out: (line: string) => lines.push(line), columns: undefined, hasColour: false }
    printTable(io, [{ name, what: name }], COLUMNS)
    printFields(io, [['name', name]])
    assert.equal(lines.length, 3)
    for (const line of lines) assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}]/u)
  }
  assert.equal(plain('Zoë 日本'), 'Zoë 日本')
})

test('titles chosen by others do not control the terminal either', () => {
  // Attack: a tag whose key sets the title of the window, or writes over the line above.
  const lines: string[] = []
  printFields({ out: (line) => lines.push(line) }, [['tags.\u001b]0;owned\u0007', 'x']])
  assert.deepEqual(lines, ['tags.\u{fffd}]0;owned\u{fffd}  x'])
})

test('a table of many rows with a huge cell is made all the same, and stays small', () => {
  // Attack: one name of a megabyte in a list, and every other line is padded to it.
  const rows = [
    { name: 'x'.repeat(1_000_000), what: 'huge' },
    ...Array.from({ length: 150_000 }, () => ({ name: 'small', what: 'y' })),
  ]
  const lines = table(rows, COLUMNS)
  assert.equal(lines.length, rows.length + 1)
  assert.equal(lines[1], `${'x'.repeat(511)}…  huge`)
  assert.ok(lines.every((line) => line.length < 600))
})

/** Listed by number instead of by the Unicode properties that the code uses: D-191. */
const DECEIVING: readonly (readonly [first: number, last: number])[] = [
  [0x00, 0x1f],
  // DEL and C1: U+009B starts a terminal control sequence, as ESC [ does.
  [0x7f, 0x9f],
  // Soft hyphen, combining grapheme joiner, Arabic letter mark, fillers.
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  // Zero-width characters, and direction marks, embeddings, overrides and isolates.
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  // Tags, which encode a second, invisible text, and variation selectors.
  [0xe0000, 0xe01ef],
]

function isDeceiving(code: number): boolean {
  return DECEIVING.some(([first, last]) => first <= code && code <= last)
}

/** All of them, each between two letters, so that halves of surrogate pairs do not combine. */
const HOSTILE = DECEIVING.flatMap(([first, last]) =>
  Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at)),
).join('x')

function assertHarmless(printed: string, what: string): void {
  const found = [...printed].filter((one) => one !== '\n' && isDeceiving(one.codePointAt(0) ?? 0))
  assert.deepEqual(
    found.map((one) => one.codePointAt(0)?.toString(16)),
    [],
    what,
  )
}

function listening() {
  const printed: string[] = []
  const io: Io = {
    out: (line) => printed.push(line),
    err: (line) => printed.push(line),
    ask: async (question) => String(printed.push(question)),
    askSecret: async (question) => String(printed.push(question)),
    progress: (text) => printed.push(text ?? ''),
    onInterrupt: () => () => undefined,
    isTerminal: true,
    columns: undefined,
    hasColour: false,
    isInteractive: true,
    variables: {},
    resolve: (path) => path,
    errorStream: { write: (text) => printed.push(text) },
    input: Readable.from([]),
    bytes: { input: Readable.from([]), output: new PassThrough() },
  }
  return { io, printed }
}

test('no print function outputs a character that controls a terminal, changes the direction or is invisible', async () => {
  const { io, printed } = listening()
  // In several pieces, because a cell that is too wide is cut.
  const pieces = HOSTILE.match(/.{1,100}/gs) ?? []
  const rows = pieces.map((piece) => ({ name: piece, what: piece }))
  const event = {
    at: HOSTILE,
    type: HOSTILE,
    reason: HOSTILE,
    address: HOSTILE,
    userAgent: HOSTILE,
  }
  const ways: Readonly<Record<string, (io: Io) => unknown>> = {
    table: (io) => printTable(io, rows, COLUMNS),
    fields: (io) => printFields(io, [[HOSTILE, HOSTILE]]),
    json: (io) => printJson(io, { [HOSTILE]: [HOSTILE, { deep: HOSTILE }] }),
    'json in one line': (io) => io.out(jsonOf({ [HOSTILE]: HOSTILE })),
    'an event': (io) => io.out(lineOf({ ...event, identityId: HOSTILE, requestId: HOSTILE })),
    'an explanation': (io) =>
      explainedLines({ ...event, details: { [HOSTILE]: HOSTILE } }, new Map()).map(io.out),
    'a failure': (io) => reportFailure(new CommandFailed(HOSTILE), io),
    'a fault': (io) => reportFailure(new Error(HOSTILE), io),
  }
  for (const [what, print] of Object.entries(ways)) {
    print(io)
    assert.ok(printed.length > 0, what)
    assertHarmless(printed.splice(0).join('\n'), what)
  }
})

test('cleans output that a command forgot to clean', async () => {
  const { io, printed } = listening()
  const careful = guarded(io)
  const hostile = HOSTILE.replaceAll(/[\t\n]/g, '')
  careful.out(hostile)
  careful.err(hostile)
  careful.progress(HOSTILE)
  await careful.ask(hostile)
  await careful.askSecret(hostile)
  assert.equal(printed.length, 5)
  for (const text of printed) assertHarmless(text, text)
})

test('keeps our own styles, line ends and tabs', () => {
  const { io, printed } = listening()
  const ours = ['\x1b[1mNAME\x1b[22m', '\x1b[36ma\x1b[39m', '\x1b[30;107m\u2588\x1b[0m', 'a\tb\nc']
  for (const line of ours) guarded(io).out(line)
  assert.deepEqual(printed.splice(0), ours)
  guarded(io).out('\x1b[8mhidden\x1b[2J\u009b1m')
  assert.deepEqual(printed, ['\u{fffd}[8mhidden\u{fffd}[2J\u{fffd}1m'])
})

test('escaping does not change the value of JSON', () => {
  const value = { [HOSTILE]: [HOSTILE, 'Zoë 日本 👩‍👩‍👧', null, 1, { deep: '\u{e0041}' }] }
  for (const indent of [undefined, 2]) assert.deepEqual(JSON.parse(jsonOf(value, indent)), value)
  assert.equal(jsonOf('a\u009bb\u202ec\u{e0041}é'), '"a\\u009bb\\u202ec\\udb40\\udc41é"')
})
