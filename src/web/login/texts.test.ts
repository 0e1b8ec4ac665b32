import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CATALOGUE } from '../../errors/catalogue.ts'
import { errorText } from './texts.ts'

test('every failure has a text for users: a title and whole sentences without protocol words', () => {
  for (const code of Object.keys(CATALOGUE)) {
    const { title, message } = errorText(code)
    assert.match(title, /^[A-Z][^.]+$/, code)
    assert.match(message, /^[A-Z].+\.$/, code)
    assert.doesNotMatch(`${title} ${message}`, /[_/]|redirect|header|token|client/i, code)
  }
})

test('a failure without its own text gets the general one', () => {
  assert.equal(errorText('UNHANDLED').title, 'Something went wrong')
  assert.equal(errorText('toString').title, 'Something went wrong')
})

test('every text belongs to a failure that exists', () => {
  const written = [
    'IDP_UNAVAILABLE',
    'INVALID_AUTH',
    'INVALID_AUTH_REQUEST',
    'INVALID_CLIENT',
    'INVALID_ID_TOKEN_HINT',
    'INVALID_POST_LOGOUT_URI',
    'INVALID_REDIRECT_URI',
    'MFA_ENROLLMENT_NOT_STARTED',
    'MFA_EXISTS',
    'MFA_INVALID_TOKEN',
    'NOT_FOUND',
    'NOT_READY',
    'RATE_LIMITED',
    'SERVER_TOO_BUSY',
    'UNAUTHORIZED',
  ]
  for (const code of written) {
    assert.ok(code in CATALOGUE, code)
    assert.notEqual(errorText(code).title, 'Something went wrong', code)
  }
})
