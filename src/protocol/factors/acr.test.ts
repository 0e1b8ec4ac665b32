/** Authentication context classes: D-460. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { ACR, acrFor, acrOf, factorsForAcr } from './acr.ts'

for (const [amr, expected] of [
  [['pwd'], 'urn:latchkey:acr:1fa'],
  [['swk'], 'urn:latchkey:acr:1fa'],
  [['pwd', 'otp', 'mfa'], 'urn:latchkey:acr:totp'],
  [['pwd', 'ext-jwt', 'mfa'], 'urn:latchkey:acr:2fa'],
  [['pwd', 'pop', 'user', 'mfa'], 'phr'],
  [['pop', 'user', 'mfa'], 'phr'],
  // D-464: phishing can steal a recovery code.
  [['pwd', 'pop', 'recovery-code', 'mfa'], 'urn:latchkey:acr:2fa'],
  [['pwd', 'otp', 'pop', 'user', 'mfa'], 'phr'],
  [[], 'urn:latchkey:acr:1fa'],
] as const) {
  test(`a login by ${amr.join(', ') || 'nothing'} reaches ${expected}`, () => {
    assert.equal(acrOf(amr), expected)
  })
}

for (const [asked, expected] of [
  [undefined, undefined],
  ['', undefined],
  ['phr', ['passkey']],
  ['urn:latchkey:acr:totp', ['totp']],
  ['urn:latchkey:acr:2fa', ['totp', 'passkey']],
  // One of the classes is enough, whatever the order.
  ['phr urn:latchkey:acr:totp', ['totp', 'passkey']],
  ['phr urn:latchkey:acr:1fa', undefined],
  ['unknown', undefined],
  ['unknown phr', ['passkey']],
  ['PHR', undefined],
  ['constructor __proto__', undefined],
  ['  phr  ', ['passkey']],
] as const) {
  test(`acr_values ${JSON.stringify(asked)} demand ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(factorsForAcr(asked), expected)
  })
}

test('a missing factor leads to its class, and other values of amr to none', () => {
  assert.deepEqual(['otp', 'pop', 'mfa'].map(acrFor), [ACR.totp, ACR.passkey, ACR.twoFactors])
  assert.deepEqual(['pwd', 'swk', 'ext-jwt', 'x'].map(acrFor), [
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
