/** RFC 8628 §6.1: codes that users can read, say and type. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../../base/secrets/random.ts'
import { newUserCode, parseUserCode, shownUserCode } from './user-code.ts'

test('a new code has eight letters, without vowels', () => {
  const codes = Array.from({ length: 500 }, () => newUserCode(systemRandom))
  for (const code of codes) assert.match(code, /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/)
  assert.equal(new Set(codes.join('')).size, 20, 'every letter occurs')
})

test('bytes that would make some letters more likely are not used', () => {
  const bytes = [
    [255, 240, 241, 0, 19, 20, 39, 239],
    [1, 2, 3, 250, 4, 5, 6, 7],
  ]
  const random = { bytes: () => Uint8Array.from(bytes.shift() ?? []) }
  assert.equal(newUserCode(random), 'BZBZZCDF')
})

test('a code is read however it is written', () => {
  const code = parseUserCode('BCDF-GHJK')
  assert.ok(code !== undefined)
  assert.equal(shownUserCode(code), 'BCDF-GHJK')
  for (const text of ['bcdfghjk', 'BCDFGHJK', ' bcdf ghjk ', 'BCDF–GHJK', 'b-c-d-f-g-h-j-k']) {
    assert.equal(parseUserCode(text), code, text)
  }
})

test('anything else is not a code', () => {
  for (const text of [
    '',
    'BCDF',
    'BCDFGHJKL',
    'ABCDFGHJ',
    'BCDFGHJ1',
    'ВCDFGHJK',
    'x'.repeat(99),
  ]) {
    assert.equal(parseUserCode(text), undefined, text)
  }
})
