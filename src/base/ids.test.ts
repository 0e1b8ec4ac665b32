/** What identifiers look like: short, URL-safe, generated (API 1). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IdentityId, newId } from './ids.ts'
import { systemRandom } from './secrets/random.ts'

const SHAPE = /^[0-9a-z]{19}$/

test('an identifier has 19 lower-case letters and digits', () => {
  for (let i = 0; i < 200; i += 1) assert.match(newId<IdentityId>(systemRandom), SHAPE)
})

test('identifiers do not repeat', () => {
  const ids = Array.from({ length: 10_000 }, () => newId<IdentityId>(systemRandom))
  assert.equal(new Set(ids).size, ids.length)
})

test('every one of 96 random bits shows in the identifier', () => {
  const seen = new Set<string>()
  for (let bit = 0; bit < 96; bit += 1) {
    const bytes = new Uint8Array(12)
    bytes[bit >> 3] = 1 << (bit & 7)
    const id = newId<IdentityId>({
      bytes: (count) => {
        assert.equal(count, bytes.length)
        return bytes
      },
    })
    assert.match(id, SHAPE)
    seen.add(id)
  }
  assert.equal(seen.size, 96)
})

test('the smallest and the largest number have the same length', () => {
  const idOf = (byte: number) => newId({ bytes: (count) => new Uint8Array(count).fill(byte) })
  assert.equal(idOf(0), '0'.repeat(19))
  assert.equal(idOf(0xff), (2n ** 96n - 1n).toString(36))
  assert.equal(idOf(0xff).length, 19)
})
