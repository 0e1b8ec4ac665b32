/** Which passwords may be set: R073, R075. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../../base/secrets/secret.ts'
import { refusePassword } from './password-rules.ts'

const refuse = (password: string, minLength = 8) =>
  refusePassword(new Secret(password), minLength)?.reason
const TOO_SHORT = 'must have at least 8 characters'
const TOO_LONG = 'must have at most 128 characters'

test('R073: 8 characters are enough, 7 are not', () => {
  assert.equal(refuse('a'.repeat(8)), undefined)
  assert.equal(refuse('a'.repeat(7)), TOO_SHORT)
  assert.equal(refuse(''), TOO_SHORT)
})

test('R073: 128 characters are allowed, 129 are not', () => {
  assert.equal(refuse('a'.repeat(128)), undefined)
  assert.equal(refuse('a'.repeat(129)), TOO_LONG)
})

test('R073: a character outside the basic plane counts once', () => {
  assert.equal(refuse('🔑'.repeat(8)), undefined)
  assert.equal(refuse('🔑'.repeat(7)), TOO_SHORT)
  assert.equal(refuse('🔑'.repeat(128)), undefined)
  assert.equal(refuse('🔑'.repeat(129)), TOO_LONG)
})

test('R073: characters are counted after NFKC', () => {
  // Letter and accent become one.
  assert.equal(refuse('e\u0301'.repeat(7)), TOO_SHORT)
  assert.equal(refuse('e\u0301'.repeat(128)), undefined)
  // One ligature becomes three letters.
  assert.equal(refuse('ﬃﬃab'), undefined)
  assert.equal(refuse('ﬃ'.repeat(43)), TOO_LONG)
})

test('R073: spaces count, at the ends too', () => {
  assert.equal(refuse('  abcd  '), undefined)
  assert.equal(refuse('        '), undefined)
})

test('R075: any characters will do', () => {
  for (const password of ['aaaaaaaa', '12345678', 'ЖЖЖЖЖЖЖЖ', '\0\0\0\0\0\0\0\0']) {
    assert.equal(refuse(password), undefined, JSON.stringify(password))
  }
})

test('API 4.2: the least length is that of the policy', () => {
  assert.equal(refuse('a'.repeat(14), 15), 'must have at least 15 characters')
  assert.equal(refuse('a'.repeat(15), 15), undefined)
})
