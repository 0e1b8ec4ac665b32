import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { runOpenssl } from '../../../test/support/certificates/csr.ts'
import { makeCsr } from './csr.ts'

const KEYS = {
  'P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-521': generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  Ed25519: generateKeyPairSync('ed25519'),
}

for (const [name, { privateKey, publicKey }] of Object.entries(KEYS)) {
  test(`openssl takes a request with a key of ${name}, and reads the same name and key`, async () => {
    const commonName = 'Zoë, "the laptop" + 1'
    const csr = makeCsr(privateKey, commonName)
    // Rejects when the signature is not good.
    const args = ['req', '-in', 'csr', '-verify', '-noout', '-subject', '-pubkey']
    const { text } = await runOpenssl([...args, '-nameopt', 'utf8,-esc_msb'], { csr })
    assert.ok(text.includes('Zoë'), text)
    assert.ok(text.includes('the laptop'), text)
    assert.ok(text.includes(publicKey.export({ type: 'spki', format: 'pem' }).toString()), text)
  })
}

test('a name has 1 to 64 characters, of any alphabet', () => {
  const { privateKey } = KEYS['P-256']
  assert.throws(() => makeCsr(privateKey, ''), TypeError)
  assert.throws(() => makeCsr(privateKey, 'é'.repeat(65)), TypeError)
  assert.ok(makeCsr(privateKey, '🔑'.repeat(64)))
})

test('only a private key that signs makes a request', () => {
  assert.throws(() => makeCsr(KEYS['P-256'].publicKey, 'somebody'), TypeError)
  assert.throws(() => makeCsr(generateKeyPairSync('x25519').privateKey, 'somebody'), TypeError)
})
