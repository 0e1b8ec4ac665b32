/** R074: passwords that an attacker would try first, each with the reason. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../../base/secrets/secret.ts'
import { refuseGuessable } from './guessable-passwords.ts'

const refuse = async (password: string, ...known: readonly string[]) =>
  (await refuseGuessable(new Secret(password), known))?.reason
const COMMON = 'is one of the most common passwords'
const KNOWN = 'is made from the username, the name or the name of the service'

for (const password of ['password', '12345678', 'PassWord', 'qwertyuiop', 'ｐａｓｓｗｏｒｄ']) {
  test(`R074: ${password} is common, in whatever letters`, async () => {
    assert.equal(await refuse(password), COMMON)
  })
}

for (const password of [
  'wilgefortis',
  'WilgeFortis',
  'wilgefortis2026!',
  '--wilgefortis--',
  '1wilgefortis1',
]) {
  test(`R074: ${password} is not allowed as the password of wilgefortis`, async () => {
    assert.equal(await refuse(password, 'service', 'Wilgefortis'), KNOWN)
  })
}

test('R074: a name of digits is known too, but only as it is', async () => {
  assert.equal(await refuse('4711081547', '4711081547'), KNOWN)
  assert.equal(await refuse('9182736450918', '4711081547'), undefined)
})

test('a password that only contains a name, or that is unusual, is allowed', async () => {
  assert.equal(await refuse('wilgefortis rides the night train', 'wilgefortis'), undefined)
  assert.equal(await refuse('mgZ4-tTq2.x9', 'wilgefortis'), undefined)
  assert.equal(await refuse('9182736450918', ''), undefined)
})
