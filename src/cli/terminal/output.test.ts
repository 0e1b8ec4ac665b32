import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plain, printFields, printTable, table } from './output.ts'

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

// Somebody names an identity so that looking at it changes what is on the screen.
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

test('titles that somebody else has chosen steer no terminal either', () => {
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
