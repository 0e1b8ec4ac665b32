/** Which credentials a request carries: D-14, R068. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearersOf, ztSessionOf } from './bearers.ts'
import { rawValues } from './header-fields.ts'

/** As Node lists header fields: name, value, name, value. */
const withFields = (...rawHeaders: string[]) => ({ rawHeaders })

const tokens = (...fields: string[]) =>
  bearersOf(withFields(...fields.flatMap((field) => ['Authorization', field]))).map((token) =>
    token.reveal(),
  )

test('a field that comes twice has two values, whatever the case of its name', () => {
  const request = withFields('Host', 'a', 'X-Y', 'host', 'HOST', 'b')
  assert.deepEqual(rawValues(request, 'host'), ['a', 'b'])
  assert.deepEqual(rawValues(request, 'x-y'), ['host'])
  assert.deepEqual(rawValues(request, 'a'), [])
})

test('a request without Authorization has no bearer', () => {
  assert.deepEqual(bearersOf(withFields('Accept', '*/*')), [])
})

const READ: Readonly<Record<string, readonly [fields: readonly string[], tokens: string[]]>> = {
  'one token': [['Bearer a.b-c_d~e+f/g='], ['a.b-c_d~e+f/g=']],
  'a scheme in any case': [
    ['bearer a', 'BEARER b', 'bEaReR c'],
    ['a', 'b', 'c'],
  ],
  'spaces around': [['  Bearer \t a  '], ['a']],
  'two fields': [
    ['Bearer a', 'Bearer b'],
    ['a', 'b'],
  ],
  'one field with two, as fetch joins them': [['Bearer a, Bearer b'], ['a', 'b']],
  'one field with two and no space': [['Bearer a,Bearer b'], ['a', 'b']],
  'a scheme without a token': [
    ['Bearer', 'Bearer '],
    ['', ''],
  ],
  'other schemes': [['Basic YTpi', 'Digest x="y"', 'Bearer a', 'Bearerx b'], ['a']],
  'an empty field': [['', ','], []],
  'a token with a space in it': [['Bearer a b'], ['a b']],
}

for (const [what, [fields, expected]] of Object.entries(READ)) {
  test(`${what}: the tokens are ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(tokens(...fields), expected)
  })
}

test('a field that is full of spaces is read like any other', () => {
  // Attack: a pattern that tries every space as the end of the token. With so many it would not come to an end.
  const spaces = ' '.repeat(500_000)
  assert.deepEqual(tokens(`Bearer x${spaces}y`), [`x${spaces}y`])
  assert.deepEqual(tokens(`Bearer${spaces}y${spaces}`), ['y'])
  assert.deepEqual(tokens(`${spaces}x`), [])
})

test('tokens cannot be printed', () => {
  assert.doesNotMatch(JSON.stringify(bearersOf(withFields('Authorization', 'Bearer hush'))), /hush/)
})

test('the session header is read as it came; repeated, it is that of no session', () => {
  assert.equal(ztSessionOf(withFields('zt-session', 'a'))?.reveal(), 'a')
  assert.equal(ztSessionOf(withFields('ZT-Session', 'a', 'zt-session', 'b'))?.reveal(), 'a, b')
  assert.equal(ztSessionOf(withFields('zt-session', ''))?.reveal(), '')
  assert.equal(ztSessionOf(withFields('Authorization', 'Bearer a')), undefined)
})
