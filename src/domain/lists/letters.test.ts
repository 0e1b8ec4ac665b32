/** Small and capital letters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lettersOf } from './letters.ts'

test('a letter stands for both its cases, and what has none for itself', () => {
  assert.deepEqual(lettersOf('aZ-é😀'), [['a', 'A'], ['Z', 'z'], ['-'], ['é', 'É'], ['😀']])
  assert.deepEqual(lettersOf(''), [])
})

test('a letter whose other case is more than one letter stands for itself', () => {
  assert.deepEqual(lettersOf('ßİ'), [['ß'], ['İ']])
  assert.deepEqual(lettersOf('ẞ'), [['ẞ', 'ß']])
})

test('letters beyond 16 bits have cases too', () => {
  assert.deepEqual(lettersOf('𐐨'), [['𐐨', '𐐀']])
})
