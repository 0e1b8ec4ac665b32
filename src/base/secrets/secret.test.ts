/** R108: a credential shows up nowhere unless the code calls `reveal()`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format, inspect } from 'node:util'
import { Secret } from './secret.ts'

const VALUE = 'correct horse battery'
const secret = new Secret(VALUE)

test('the value comes out by reveal, and only as it was put in', () => {
  assert.equal(secret.reveal(), VALUE)
  assert.equal(new Secret('').reveal(), '')
})

const PRINTED: Readonly<Record<string, () => string>> = {
  'String()': () => String(secret),
  'a template': () => `${secret}`,
  'adding to a text': () => `a ${secret}`.concat(secret as unknown as string),
  'joining a list': () => [secret, secret].join(),
  JSON: () => JSON.stringify({ password: secret, list: [secret] }),
  inspect: () => inspect(secret),
  'inspect of what holds it': () => inspect({ deep: [{ password: secret }] }, { depth: 9 }),
  'inspect with hidden members': () => inspect(secret, { showHidden: true, depth: 9 }),
  'inspect without custom methods': () => inspect(secret, { customInspect: false }),
  'format with %s': () => format('%s', secret),
  'format with %o': () => format('%o', secret),
  'format with %j': () => format('%j', secret),
  'an error message': () => inspect(new Error(`no ${secret}`, { cause: secret })),
  'a map': () => inspect(new Map([['password', secret]])),
}

for (const [way, print] of Object.entries(PRINTED)) {
  test(`printed by ${way}, the value is hidden`, () => {
    const text = print()
    assert.ok(!text.includes(VALUE), text)
    // Without custom methods nothing is left to say that something is hidden.
    if (!way.includes('without')) assert.match(text, /\[secret\]/)
  })
}

test('no member, copy or clone gives the value away', () => {
  assert.deepEqual(Object.values(secret), [])
  assert.deepEqual(Reflect.ownKeys(secret), [])
  assert.deepEqual({ ...secret }, {})
  assert.ok(!JSON.stringify(structuredClone({ secret })).includes(VALUE))
})
