import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLine, isStorable } from './text.ts'

test('a database can hold every text but NUL and half a surrogate pair', () => {
  for (const text of ['', 'Ada', 'a\nb', '\u{1f511}', '\u2028']) assert.ok(isStorable(text))
  for (const text of ['a\0b', '\ud83d', '\udd11\ud83d']) assert.ok(!isStorable(text))
})

test('a line has no control characters, no line of another alphabet, and is storable', () => {
  for (const text of ['', 'Ada Lovelace', 'Адa', '\u{1f511}', ' ']) assert.ok(isLine(text))
  const others = ['a\nb', 'a\tb', 'a\0b', '\u007f', '\u0085', 'a\u2028b', 'a\u2029b', '\ud83d']
  for (const text of others) assert.ok(!isLine(text), JSON.stringify(text))
})
