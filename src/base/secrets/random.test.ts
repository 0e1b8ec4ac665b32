import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from './random.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('returns as many bytes as asked for, and never the same ones twice', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 3_000; i++) {
    const bytes = systemRandom.bytes(12)
    assert.equal(bytes.length, 12)
    seen.add(hex(bytes))
  }
  assert.equal(seen.size, 3_000)
  for (const count of [0, 1, 63, 64, 65, 5_000])
    assert.equal(systemRandom.bytes(count).length, count)
})

test('what was returned stays as it is, and a change of it reaches no other caller', () => {
  const first = systemRandom.bytes(32)
  const before = hex(first)
  const second = systemRandom.bytes(32)
  second.fill(0)
  for (let i = 0; i < 500; i++) systemRandom.bytes(32)
  assert.equal(hex(first), before)
  assert.notEqual(hex(systemRandom.bytes(32)), hex(second))
})
