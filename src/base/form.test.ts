/** Forms in query and body (R014, R015); properties are in test/fuzz/bodies.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countFields, parseForm } from './form.ts'

const READ: readonly [string, string, readonly [string, readonly string[]][]][] = [
  ['nothing has no fields', '', []],
  ['names and values are split at the first equals sign', 'a=b=c', [['a', ['b=c']]]],
  [
    'a repeated name keeps every value, in order',
    'a=1&b=2&a=3',
    [
      ['a', ['1', '3']],
      ['b', ['2']],
    ],
  ],
  ['a plus is a space, an escaped plus is a plus', 'a=b+c%2Bd', [['a', ['b c+d']]]],
  [
    'plus signs are spaces wherever they stand',
    '+=++&a+b=+é+',
    [
      [' ', ['  ']],
      ['a b', [' é ']],
    ],
  ],
  ['half a surrogate pair stays as it is', 'a=+\ud800', [['a', [' \ud800']]]],
  ['a character with the code of a plus in it is not one', 'a=+\u2b00', [['a', [' \u2b00']]]],
  ['names are unescaped too', 'a%20b=1', [['a b', ['1']]]],
  ['a name that is escaped is the same name', 'a=1&%61=2', [['a', ['1', '2']]]],
  ['escapes are UTF-8, in either case', 'a=%C3%A9%f0%9f%94%91', [['a', ['é🔑']]]],
  ['characters that need no escape may stand as they are', 'a=é/?:@', [['a', ['é/?:@']]]],
  ['an escaped ampersand does not end the pair', 'a=1%262', [['a', ['1&2']]]],
  ['a semicolon is no separator', 'a=1;b=2', [['a', ['1;b=2']]]],
  ['NUL is a character', 'a=%00', [['a', ['\0']]]],
  ['empty pairs are nothing', '&&a=1&', [['a', ['1']]]],
  ['RFC 6749 §3.1: a name without a value was not sent', 'a=&b&c=1', [['c', ['1']]]],
  ['a value without a name has the empty name', '=1', [['', ['1']]]],
]

for (const [what, text, fields] of READ) {
  test(what, () => {
    assert.deepEqual(parseForm(text), new Map(fields))
  })
}

const REFUSED: Readonly<Record<string, string>> = {
  'a percent sign at the end': 'a=b%',
  'half an escape': 'a=%4',
  'an escape that is not a number': 'a=%zz',
  'a broken escape in a name': '%=a',
  'a broken escape in a name without a value': 'a=1&%zz',
  'a byte that is not UTF-8': 'a=%FF',
  'a sequence cut short': 'a=%C3',
  'an overlong sequence': 'a=%C0%AF',
  'half a surrogate pair': 'a=%ED%A0%80',
}

for (const [what, text] of Object.entries(REFUSED)) {
  test(`${what} is refused, not repaired`, () => {
    assert.equal(parseForm(text), undefined)
  })
}

test('a field named __proto__ is a field like any other', () => {
  assert.deepEqual(
    parseForm('__proto__=x&toString=y'),
    new Map([
      ['__proto__', ['x']],
      ['toString', ['y']],
    ]),
  )
})

for (const [text, count] of [
  ['', 1],
  ['a=1', 1],
  ['a=1&b=%26&c', 3],
  ['&&', 3],
] as const) {
  test(`${JSON.stringify(text)} has ${count} fields, counted without decoding`, () => {
    assert.equal(countFields(text), count)
  })
}
