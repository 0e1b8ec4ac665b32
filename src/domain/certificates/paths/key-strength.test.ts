/** Which public keys are accepted: strong enough to trust (D-40) and cheap enough to verify with (D-321). */
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { keyObjectFault } from './key-strength.ts'

/** Only the public key, whose sizes are all that matters here. */
function rsaKey(bits: number, exponent: bigint) {
  const hex = exponent.toString(16)
  const e = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  const n = Buffer.alloc(bits / 8, 0xff)
  const jwk = { kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') }
  return createPublicKey({ key: jwk, format: 'jwk' })
}

test('accepts RSA keys of 2048 to 8192 bits', () => {
  for (const bits of [2048, 3072, 4096, 8192]) {
    assert.equal(keyObjectFault(rsaKey(bits, 65_537n)), undefined)
  }
  assert.equal(keyObjectFault(rsaKey(2040, 65_537n)), 'has only 2040 bits of RSA')
  assert.equal(keyObjectFault(rsaKey(8200, 65_537n)), 'has 8200 bits of RSA, too many')
})

test('accepts the RSA exponents that are in use, up to those of smart cards', () => {
  for (const exponent of [3n, 17n, 65_537n, 0x4000_0081n, 2n ** 32n - 1n]) {
    assert.equal(keyObjectFault(rsaKey(2048, exponent)), undefined, String(exponent))
  }
})

test('D-321: rejects RSA exponents that anyone can forge with or that make verifying slow', () => {
  // Attack: OpenSSL allows an exponent as long as the key up to 3072 bits, and one of 64 bits above.
  const long = 2n ** 2047n + 1n
  for (const exponent of [1n, 2n, 65_536n, 2n ** 32n + 1n, 2n ** 64n - 1n, long]) {
    const fault = keyObjectFault(rsaKey(2048, exponent))
    assert.equal(fault, 'has an RSA exponent that is not accepted', String(exponent))
  }
})

test('accepts P-256, P-384, P-521 and EdDSA', () => {
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    assert.equal(keyObjectFault(generateKeyPairSync('ec', { namedCurve }).publicKey), undefined)
  }
  assert.equal(keyObjectFault(generateKeyPairSync('ed25519').publicKey), undefined)
  assert.equal(keyObjectFault(generateKeyPairSync('ed448').publicKey), undefined)
})
