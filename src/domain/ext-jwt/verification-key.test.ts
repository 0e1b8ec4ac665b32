/** Which keys of others are good enough, and for what: R053, R107. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { keyFromCertificate, keyFromJwk } from './verification-key.ts'

const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const RSA_KEY = jwkOf(rsa(2048).publicKey)
const EC_KEY = jwkOf(ec('P-256').publicKey)

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']

const USABLE: readonly [what: string, jwk: object, algorithms: readonly string[]][] = [
  ['an RSA key of 2048 bits', RSA_KEY, RSA_ALGORITHMS],
  ['a P-256 key', EC_KEY, ['ES256']],
  ['a P-384 key', jwkOf(ec('P-384').publicKey), ['ES384']],
  ['a P-521 key', jwkOf(ec('P-521').publicKey), ['ES512']],
  ['an Ed25519 key', jwkOf(generateKeyPairSync('ed25519').publicKey), ['EdDSA']],
  ['a key that says its algorithm', { ...RSA_KEY, alg: 'PS384' }, ['PS384']],
  ['a key for signatures', { ...EC_KEY, use: 'sig', key_ops: ['verify'] }, ['ES256']],
  ['a key with unknown members', { ...EC_KEY, x5c: ['x'], foo: 1 }, ['ES256']],
]

for (const [what, jwk, algorithms] of USABLE) {
  test(`${what} verifies ${algorithms.join(', ')} and nothing else`, () => {
    const key = keyFromJwk({ ...jwk, kid: 'k' })
    assert.deepEqual(key?.algorithms, algorithms)
    assert.equal(key?.kid, 'k')
    assert.equal(key?.publicKey.type, 'public')
  })
}

const UNUSABLE: readonly [what: string, jwk: unknown][] = [
  ['nothing', null],
  ['a text', 'key'],
  ['an empty object', {}],
  ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' }],
  ['a symmetric key dressed as RSA', { ...RSA_KEY, alg: 'HS256' }],
  ['an RSA key of 1024 bits', jwkOf(rsa(1024).publicKey)],
  ['an RSA key with the exponent 1', { ...RSA_KEY, e: 'AQ' }],
  ['a key on a curve of Bitcoin', jwkOf(ec('secp256k1').publicKey)],
  ['a key for key agreement', jwkOf(generateKeyPairSync('x25519').publicKey)],
  ['an Ed448 key', jwkOf(generateKeyPairSync('ed448').publicKey)],
  ['a key for encryption', { ...RSA_KEY, use: 'enc' }],
  ['a key for an algorithm of encryption', { ...RSA_KEY, alg: 'RSA-OAEP' }],
  ['a key that says the algorithm of another type', { ...EC_KEY, alg: 'RS256' }],
  ['a key that says the algorithm of another curve', { ...EC_KEY, alg: 'ES384' }],
  ['a key that says no algorithm by name', { ...EC_KEY, alg: 'none' }],
  ['an algorithm that is not text', { ...EC_KEY, alg: 256 }],
  ['a key whose operations are others', { ...EC_KEY, key_ops: ['sign'] }],
  ['operations that are not a list', { ...EC_KEY, key_ops: 'verify' }],
  ['a kid that is not text', { ...EC_KEY, kid: 7 }],
  ['a kid of 257 characters', { ...EC_KEY, kid: 'x'.repeat(257) }],
  ['a key without its point', { kty: 'EC', crv: 'P-256' }],
  ['a point that is not on the curve', { ...EC_KEY, y: EC_KEY['x'] }],
  ['a coordinate that is not text', { ...EC_KEY, x: 1 }],
  ['a type that is a list', { ...EC_KEY, kty: ['EC'] }],
]

for (const [what, jwk] of UNUSABLE) {
  test(`R107: ${what} verifies nothing`, () => {
    assert.equal(keyFromJwk(jwk), undefined)
  })
}

test('R107: the private half of a key that was published by mistake is not stored', () => {
  const jwk = jwkOf(ec('P-256').privateKey)
  assert.ok('d' in jwk)
  const key = keyFromJwk(jwk)
  assert.equal(key?.publicKey.type, 'public')
  assert.equal(key !== undefined && 'd' in jwkOf(key.publicKey), false)
})

test('a text that is not a certificate has no key', () => {
  for (const pem of ['', 'x', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n']) {
    assert.equal(keyFromCertificate(pem), undefined)
  }
})

function jwkOf(key: KeyObject): Record<string, unknown> {
  return { ...key.export({ format: 'jwk' }) }
}
