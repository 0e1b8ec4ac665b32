/** The words of a filter and where they stand. API 2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FilterFault, tokenize } from './filter-tokens.ts'

test('a filter is taken apart into words, texts, numbers and signs', () => {
  assert.deepEqual(tokenize('name != "a" or(tags.x-1.y>=-2.5)'), [
    { kind: 'word', text: 'name', column: 1 },
    { kind: 'sign', text: '!=', column: 6 },
    { kind: 'text', value: 'a', column: 9 },
    { kind: 'word', text: 'or', column: 13 },
    { kind: 'sign', text: '(', column: 15 },
    { kind: 'word', text: 'tags.x-1.y', column: 16 },
    { kind: 'sign', text: '>=', column: 26 },
    { kind: 'number', value: -2.5, column: 28 },
    { kind: 'sign', text: ')', column: 32 },
    { kind: 'end', column: 33 },
  ])
})

test('a time needs no quotes, and a number before a minus is not a time', () => {
  assert.deepEqual(tokenize('datetime(2026-01-02T03:04:05.678+09:00) 2026-01-02'), [
    { kind: 'word', text: 'datetime', column: 1 },
    { kind: 'sign', text: '(', column: 9 },
    { kind: 'time', text: '2026-01-02T03:04:05.678+09:00', column: 10 },
    { kind: 'sign', text: ')', column: 39 },
    { kind: 'number', value: 2026, column: 41 },
    { kind: 'number', value: -1, column: 45 },
    { kind: 'number', value: -2, column: 48 },
    { kind: 'end', column: 51 },
  ])
})

test('nothing is only an end', () => {
  assert.deepEqual(tokenize(''), [{ kind: 'end', column: 1 }])
  assert.deepEqual(tokenize(' \n\t '), [{ kind: 'end', column: 5 }])
})

test('in a text a backslash stands before a quote or a backslash, and everything else is itself', () => {
  for (const [written, value] of [
    ['""', ''],
    [String.raw`"\""`, '"'],
    [String.raw`"\\"`, '\\'],
    [String.raw`"\\\""`, '\\"'],
    ['"a\nb\u0000"', 'a\nb\u0000'],
    [`"o'neil %_*"`, `o'neil %_*`],
  ] as const) {
    assert.deepEqual(tokenize(written)[0], { kind: 'text', value, column: 1 })
  }
})

test('columns are characters, also beyond 16 bits', () => {
  const [, second] = tokenize('"😀😀" x')
  assert.equal(second?.column, 6)
})

for (const [text, column] of [
  ['name = "open', 8],
  [String.raw`name = "a\"`, 8],
  [String.raw`"\n"`, 1],
  ['name ; drop', 6],
  ["name = 'a'", 8],
  ['name == ?', 9],
  ['ﬀ', 1],
  ['"😀" 😀', 5],
  [`x < ${'9'.repeat(400)}`, 5],
  [`x < -${'9'.repeat(400)}`, 5],
  ['!', 1],
] as const) {
  test(`${text.slice(0, 20)} is at fault in column ${column}`, () => {
    assert.throws(
      () => tokenize(text),
      (error) => error instanceof FilterFault && error.column === column,
    )
  })
}
