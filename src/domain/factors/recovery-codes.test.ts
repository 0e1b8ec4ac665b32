/** Recovery codes: D-17, R087. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IdentityId } from '../../base/ids.ts'
import { type Random, systemRandom } from '../../base/secrets/random.ts'
import { createVault } from '../../base/secrets/vault.ts'
import { isRecoveryCode, newRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts'

const ADA = 'ada' as IdentityId
const BOB = 'bob' as IdentityId
const vault = createVault(new Uint8Array(32).fill(7), systemRandom)

/** Hands out what it was given, and nothing twice. */
function chance(...draws: readonly (readonly number[])[]): Random {
  const left = [...draws]
  return {
    bytes: (count) => {
      const bytes = Uint8Array.from(left.shift() ?? assert.fail('more was drawn than expected'))
      assert.equal(bytes.length, count)
      return bytes
    },
  }
}

test('there are 20 codes of six characters A-Z2-7, and no two alike', () => {
  const codes = newRecoveryCodes(systemRandom)
  assert.equal(codes.length, 20)
  assert.equal(new Set(codes).size, 20)
  for (const code of codes) assert.match(code, /^[A-Z2-7]{6}$/)
})

test('a code that was drawn already is drawn again', () => {
  const distinct = Array.from({ length: 20 }, (_, i) => [0, 0, 0, 0, 0, i])
  const [first = [], ...rest] = distinct
  const codes = newRecoveryCodes(chance(first, first, ...rest))
  assert.equal(new Set(codes).size, 20)
  assert.deepEqual(codes.slice(0, 2), ['AAAAAA', 'AAAAAB'])
})

test('R087: no character is likelier than another', () => {
  // Every byte once, in codes of six; the last two are made up with bytes that differ from the rest.
  const seen = new Map<string, number>()
  for (let start = 0; start < 256; start += 4) {
    const draws = Array.from({ length: 20 }, (_, i) => [
      start,
      start + 1,
      start + 2,
      start + 3,
      0,
      i,
    ])
    const [code = ''] = newRecoveryCodes(chance(...draws))
    for (const character of code.slice(0, 4)) seen.set(character, (seen.get(character) ?? 0) + 1)
  }
  assert.equal(seen.size, 32)
  assert.deepEqual(new Set(seen.values()), new Set([256 / 32]))
})

test('case and spaces do not count', () => {
  const hash = recoveryCodeHash(vault, ADA, 'ABC234')
  for (const same of ['abc234', 'aBc234', 'ABC 234', ' ABC234 ', 'A B C 2 3 4', 'ABC\u00a0234\n']) {
    assert.equal(recoveryCodeHash(vault, ADA, same), hash, JSON.stringify(same))
    assert.equal(isRecoveryCode(same), true, JSON.stringify(same))
  }
  assert.notEqual(recoveryCodeHash(vault, ADA, 'ABC235'), hash)
})

test('R087: the same code of another identity has another hash', () => {
  // Attack: an attacker who can write to the table copies the row of their own code to another user.
  assert.notEqual(recoveryCodeHash(vault, ADA, 'ABC234'), recoveryCodeHash(vault, BOB, 'ABC234'))
})

test('R087: without the installation secret the hash cannot be searched for', () => {
  // Attack: 30 bits are soon tried, so a plain hash in a stolen table would be the code itself.
  const other = createVault(new Uint8Array(32).fill(8), systemRandom)
  assert.notEqual(recoveryCodeHash(vault, ADA, 'ABC234'), recoveryCodeHash(other, ADA, 'ABC234'))
})

const NO_CODES: Readonly<Record<string, string>> = {
  nothing: '',
  'only spaces': '      ',
  'five characters': 'ABC23',
  'seven characters': 'ABC2345',
  'the digits that look like letters': 'ABC018',
  'a hyphen': 'ABC-23',
  'a letter outside ASCII': 'ABCDÉF',
  'a letter whose upper case is ASCII': 'ABCDEſ',
  'a letter whose upper case is two': 'ABCDß',
  'digits of another script': '٢٣٤٥٦٧',
  'a NUL': 'ABC23\0',
}

for (const [what, text] of Object.entries(NO_CODES)) {
  test(`${what}: that is not a recovery code`, () => {
    assert.equal(isRecoveryCode(text), false)
  })
}
