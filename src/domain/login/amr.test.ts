/** How a user logged in, in the words of RFC 8176 where it has one: D-25. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proven, WITH_TOTP } from '../../../test/support/people.ts'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import { NO_FACTORS, type ProvenPrimary, type ProvenSecondary } from '../factors/proven.ts'
import { amrOf } from './amr.ts'

const ONE = 'signer-1' as ExternalJwtSignerId
const OTHER = 'signer-2' as ExternalJwtSignerId

const LOGINS: readonly (readonly [
  what: string,
  primary: Partial<ProvenPrimary>,
  secondary: Partial<ProvenSecondary>,
  words: readonly string[],
])[] = [
  ['a password', { method: 'password' }, {}, ['pwd']],
  ['a certificate', { method: 'cert' }, {}, ['swk']],
  ['an external JWT', { method: 'ext-jwt', signerId: ONE }, {}, ['ext-jwt']],
  ['a password and a code', { method: 'password' }, { factors: WITH_TOTP }, ['pwd', 'otp', 'mfa']],
  ['a certificate and a code', { method: 'cert' }, { factors: WITH_TOTP }, ['swk', 'otp', 'mfa']],
  ['a password and a JWT', { method: 'password' }, { extJwt: ONE }, ['pwd', 'ext-jwt', 'mfa']],
  [
    'a password, a code and a JWT',
    { method: 'password' },
    { factors: WITH_TOTP, extJwt: ONE },
    ['pwd', 'otp', 'ext-jwt', 'mfa'],
  ],
  [
    'JWTs of two signers',
    { method: 'ext-jwt', signerId: ONE },
    { extJwt: OTHER },
    ['ext-jwt', 'mfa'],
  ],
  // D-14: one JWT may serve as primary and secondary. It is one factor all the same.
  ['one JWT for both', { method: 'ext-jwt', signerId: ONE }, { extJwt: ONE }, ['ext-jwt']],
  [
    'one JWT for both, and a code',
    { method: 'ext-jwt', signerId: ONE },
    { extJwt: ONE, factors: WITH_TOTP },
    ['ext-jwt', 'otp', 'mfa'],
  ],
]

for (const [what, primary, secondary, words] of LOGINS) {
  test(`${what} is ${words.join(', ')}`, () => {
    const both = { factors: NO_FACTORS, extJwt: undefined, ...secondary }
    assert.deepEqual(amrOf(proven(primary), both), words)
  })
}
