import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BASE32_ALPHABET, base32, fromBase32 } from './base32.ts'
import { utf8 } from './encoding.ts'

// RFC 4648 §10, without the padding.
const VECTORS: readonly [string, string][] = [
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
]

for (const [text, encoded] of VECTORS) {
  test(`${JSON.stringify(text)} is ${JSON.stringify(encoded)} in base32, and back`, () => {
    assert.equal(base32(utf8(text)), encoded)
    assert.deepEqual(fromBase32(encoded), utf8(text))
  })
}

test('every character of the alphabet stands for its place in it', () => {
  // 0 to 31 in five bits each, one behind the other.
  const bits = Array.from({ length: 32 }, (_, i) => i.toString(2).padStart(5, '0')).join('')
  const bytes = Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
  assert.equal(base32(bytes), BASE32_ALPHABET)
})

test('160 bits are 32 characters', () => {
  assert.equal(base32(new Uint8Array(20)), 'A'.repeat(32))
  assert.equal(base32(new Uint8Array(20).fill(0xff)), '7'.repeat(32))
})

test('a text that is not base32 has no bytes: other characters, padding, lengths and bits that no encoding produces', () => {
  for (const text of ['mzxw6', 'MZXW6===', 'MZX0', 'MZ XQ', 'M', 'MZX', 'MZ', 'ſ']) {
    assert.equal(fromBase32(text), undefined, text)
  }
})
