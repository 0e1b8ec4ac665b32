/** D-324: when clients are asked to refresh. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refreshAfter } from './sign-tokens.ts'

const chance = (...bytes: number[]) => ({ bytes: () => Uint8Array.from(bytes) })

test('a refresh is due between 60 and 90 percent of the lifetime, in whole seconds', () => {
  assert.equal(refreshAfter(1_800, chance(0, 0)), 1_080)
  assert.equal(refreshAfter(1_800, chance(128, 0)), 1_350)
  assert.equal(refreshAfter(1_800, chance(255, 255)), 1_619)
  // The shortest lifetime (SPEC Limits).
  assert.equal(refreshAfter(60, chance(0, 0)), 36)
  assert.equal(refreshAfter(60, chance(255, 255)), 53)
})

test('clients that log in together are spread evenly over the window', () => {
  const perTenth = new Map<number, number>()
  for (let i = 0; i < 65_536; i++) {
    const tenth = Math.floor((refreshAfter(1_800, chance(i >> 8, i & 255)) - 1_080) / 54)
    perTenth.set(tenth, (perTenth.get(tenth) ?? 0) + 1)
  }
  assert.equal(perTenth.size, 10)
  for (const count of perTenth.values()) assert.ok(count > 6_400 && count < 6_700, String(count))
})
