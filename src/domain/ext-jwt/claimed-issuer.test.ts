/** Whose token a text claims to be: D-14, R059. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../base/secrets/secret.ts'
import { claimedIssuer, claimedParts } from './claimed-issuer.ts'

const part = (text: string) => Buffer.from(text).toString('base64url')
const HEADER = part('{"alg":"ES256"}')
const jwt = (claims: string, header = HEADER) => new Secret(`${header}.${part(claims)}.c2ln`)

test('the issuer is the text that the claims say', () => {
  assert.equal(claimedIssuer(jwt('{"sub":"x","iss":"https://idp/"}')), 'https://idp/')
})

test('R057: an issuer that is not a single text is not valid', () => {
  for (const claims of ['{}', '{"iss":7}', '{"iss":null}', '{"iss":["https://idp/"]}']) {
    assert.equal(claimedIssuer(jwt(claims)), null, claims)
  }
})

test('a token is parsed once', () => {
  const token = jwt('{"iss":"https://idp/"}')
  const parts = claimedParts(token)
  assert.deepEqual(parts, { header: { alg: 'ES256' }, claims: { iss: 'https://idp/' } })
  assert.equal(claimedParts(token), parts)
})

const NO_JWT: readonly (readonly [why: string, token: Secret])[] = [
  ['nothing', new Secret('')],
  ['an opaque token', new Secret('b3BhcXVl')],
  ['two parts', new Secret(`${HEADER}.${part('{}')}`)],
  ['an encrypted JWT of five parts', new Secret(`${HEADER}.a.b.c.d`)],
  ['claims that are not base64url', new Secret(`${HEADER}.{}.c2ln`)],
  ['padded base64url', new Secret(`${HEADER}.${part('{"iss":"x"}')}=.c2ln`)],
  ['claims that are not JSON', jwt('{"iss":')],
  ['claims that are not an object', jwt('["iss"]')],
  ['claims that are null', jwt('null')],
  ['claims that are not UTF-8', new Secret(`${HEADER}./w.c2ln`)],
  ['a header that is not JSON', jwt('{"iss":"x"}', part('{'))],
  ['an issuer named twice', jwt('{"iss":"https://ours/","iss":"https://theirs/"}')],
  ['an algorithm named twice', jwt('{"iss":"x"}', part('{"alg":"none","alg":"ES256"}'))],
  ['deep nesting', jwt(`{"iss":"x","deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)],
]

for (const [why, token] of NO_JWT) {
  test(`R059: ${why} is not a JWT`, () => {
    assert.equal(claimedIssuer(token), undefined)
  })
}
