/** When two usernames are the same, and when an identity is disabled: API 4.1, 4.2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anIdentity } from '../../../test/support/people.ts'
import { type Instant, instant } from '../../base/time/instant.ts'
import { usernameKey } from './authenticator.ts'
import { isDisabled } from './identity.ts'

const SAME: readonly (readonly string[])[] = [
  ['admin', 'Admin', 'ADMIN', 'ａｄｍｉｎ', 'ＡＤＭＩＮ'],
  ['strasse', 'straße', 'STRASSE', 'STRAẞE', 'Straſſe'],
  ['οδυσσευς', 'ΟΔΥΣΣΕΥΣ', 'οδυσσευσ'],
  ['zoë', 'ZOË', 'zoe\u0308', 'ZOE\u0308'],
  ['i\u0307', 'İ', 'I\u0307'],
  ['ﬃ', 'ffi', 'FFI'],
  ['ǆ', 'ǅ', 'Ǆ', 'dž', 'DŽ'],
  ['Å', 'å', 'Å'],
  ['Kelvin', 'kelvin'],
  ['①', '1', '１'],
]

for (const names of SAME) {
  test(`${names.join(', ')} are one username`, () => {
    assert.deepEqual(new Set(names.map(usernameKey)).size, 1, names.map(usernameKey).join())
  })
}

const DIFFERENT: readonly (readonly [string, string])[] = [
  ['admin', 'аdmin'], // the second begins in Cyrillic
  ['admin', 'admin '],
  ['admin', 'adm1n'],
  ['zoe', 'zoë'],
  ['a.b', 'ab'],
]

for (const [one, other] of DIFFERENT) {
  test(`${JSON.stringify(one)} and ${JSON.stringify(other)} are two usernames`, () => {
    assert.notEqual(usernameKey(one), usernameKey(other))
  })
}

test('upper and lower case are not distinguished, and folding twice is folding once', () => {
  const told: string[] = []
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code)
    // Only those that Unicode says are folded at all; the rest is a million others.
    if (!/\p{Changes_When_NFKC_Casefolded}/u.test(character)) continue
    const key = usernameKey(character)
    const others = [key, character.toUpperCase(), character.toLowerCase()]
    if (others.some((other) => usernameKey(other) !== key)) told.push(code.toString(16))
  }
  assert.deepEqual(told, [])
})

const NOON = instant(1_800_000_000_000)
const disabled = (disabledAt?: Instant, disabledUntil?: Instant) =>
  anIdentity({ disabledAt, disabledUntil })

test('an identity that was never disabled is not, whatever its other end says', () => {
  assert.equal(isDisabled(disabled(), NOON), false)
  assert.equal(isDisabled(disabled(undefined, instant(NOON + 1)), NOON), false)
})

test('a disablement without an end does not end', () => {
  assert.equal(isDisabled(disabled(NOON), NOON), true)
  assert.equal(isDisabled(disabled(NOON), instant(NOON * 2)), true)
})

test('a disablement ends at its moment, not before', () => {
  const identity = disabled(instant(NOON - 60_000), NOON)
  assert.equal(isDisabled(identity, instant(NOON - 1)), true)
  assert.equal(isDisabled(identity, NOON), false)
  assert.equal(isDisabled(identity, instant(NOON + 1)), false)
})
