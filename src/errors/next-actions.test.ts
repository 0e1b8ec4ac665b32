/** Which action a 401 names: an outstanding query first, then the challenge, then the catalogue. D-323. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extJwtQuery, totpQuery } from '../protocol/auth-query.ts'
import {
  bearerExpired,
  bearerInvalid,
  missingToken,
  primaryExtJwt,
  secondaryExtJwt,
  ztSessionInvalid,
} from '../protocol/challenge.ts'
import { Failure } from './catalogue.ts'

const SIGNER = { id: 'signer-1', issuer: 'https://idp.example' }
const JWT_QUERY = extJwtQuery({
  ...SIGNER,
  externalAuthUrl: undefined,
  clientId: undefined,
  scopes: [],
})

const rows = [
  ['missing tokens', { challenges: missingToken('service') }, 'sign-in'],
  ['an expired bearer token', { challenges: [bearerExpired('service')] }, 'refresh'],
  ['an invalid bearer token', { challenges: [bearerInvalid('service')] }, 'sign-in'],
  ['an ended legacy session', { challenges: [ztSessionInvalid()] }, 'sign-in'],
  ['a primary JWT', { challenges: [primaryExtJwt('service', 'missing', SIGNER)] }, 'present-jwt'],
  [
    'an expired secondary JWT',
    { challenges: [secondaryExtJwt('service', 'expired', SIGNER)] },
    'present-jwt',
  ],
  [
    'a TOTP code that is outstanding',
    { challenges: [ztSessionInvalid()], authQueries: [totpQuery('service', 'legacy', true)] },
    'enter-code',
  ],
  [
    'TOTP that is not enrolled',
    { challenges: [ztSessionInvalid()], authQueries: [totpQuery('service', 'oidc', false)] },
    'enroll-totp',
  ],
  ['a JWT query', { authQueries: [JWT_QUERY] }, 'present-jwt'],
  ['no detail at all', {}, 'sign-in'],
  [
    'an action of its own',
    { challenges: [bearerInvalid('service')], next: 'present-certificate' },
    'present-certificate',
  ],
] as const

for (const [about, options, next] of rows) {
  test(`UNAUTHORIZED for ${about} says ${next}`, () => {
    assert.equal(new Failure('UNAUTHORIZED', options).next, next)
  })
}

test('a failure without challenges says what the catalogue says', () => {
  assert.equal(new Failure('RATE_LIMITED').next, 'wait')
  assert.equal(new Failure('INVALID_REFRESH_TOKEN').next, 'sign-in')
  assert.equal(new Failure('NOT_FOUND').next, 'none')
})
