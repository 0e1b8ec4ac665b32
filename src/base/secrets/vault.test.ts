/**
 * The vault against an independent derivation: what one release seals and hashes, the next must read.
 * Properties are in test/fuzz/sealing.test.ts.
 */
import assert from 'node:assert/strict'
import { createDecipheriv, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { fromBase64url, utf8 } from '../encoding.ts'
import { systemRandom } from './random.ts'
import { createVault, equalInConstantTime, INSTALLATION_SECRET_BYTES } from './vault.ts'

const secret = new Uint8Array(INSTALLATION_SECRET_BYTES).map((_, i) => i)
const vault = createVault(secret, systemRandom)

/** RFC 5869 by hand, for one block and without salt. */
function derive(info: string): Buffer {
  const key = createHmac('sha256', Buffer.alloc(32)).update(secret).digest()
  return createHmac('sha256', key).update(info).update(Uint8Array.of(1)).digest()
}

test('a hash is HMAC-SHA-256 under the key of its purpose', () => {
  const key = derive('latchkey hash authorization-code')
  const expected = createHmac('sha256', key).update('a code').digest('base64url')
  assert.equal(vault.hash('authorization-code', 'a code'), expected)
})

test('a sealed value is nonce, AES-256-GCM and tag, with the context authenticated', () => {
  const bytes = Buffer.from(fromBase64url(vault.seal('signing-key', utf8('plain'), 'kid-1')) ?? [])
  assert.equal(bytes.length, 12 + 'plain'.length + 16)
  const decipher = createDecipheriv(
    'aes-256-gcm',
    derive('latchkey seal signing-key'),
    bytes.subarray(0, 12),
  )
  decipher.setAAD(Buffer.from('kid-1'))
  decipher.setAuthTag(bytes.subarray(-16))
  assert.equal(decipher.update(bytes.subarray(12, -16), undefined, 'utf8'), 'plain')
  decipher.final()
})

test('D-141: with a secret of their own, hashes stay when the installation secret becomes another one', () => {
  const hashing = systemRandom.bytes(INSTALLATION_SECRET_BYTES)
  const before = createVault(secret, systemRandom, hashing)
  const after = createVault(
    systemRandom.bytes(INSTALLATION_SECRET_BYTES),
    systemRandom,
    new Uint8Array(hashing),
  )
  assert.equal(after.hash('refresh-token', 'x'), before.hash('refresh-token', 'x'))
  assert.notEqual(before.hash('refresh-token', 'x'), vault.hash('refresh-token', 'x'))
  const sealed = before.seal('totp-secret', utf8('plain'))
  assert.equal(after.open('totp-secret', sealed), undefined)
  assert.deepEqual(vault.open('totp-secret', sealed), utf8('plain'))
})

test('the same value under a key for hashing and under one for sealing has nothing in common', () => {
  assert.notDeepEqual(derive('latchkey hash browser'), derive('latchkey seal browser'))
  const key = derive('latchkey seal browser')
  const other = createHmac('sha256', key).update('x').digest('base64url')
  assert.notEqual(vault.hash('browser', 'x'), other)
})

test('nothing at all can be sealed, and comes out as nothing', () => {
  assert.deepEqual(vault.open('auth-request', vault.seal('auth-request', utf8(''))), utf8(''))
})

test('the nonce comes from the given source of chance', () => {
  const asked: number[] = []
  const counted = createVault(secret, {
    bytes: (count) => {
      asked.push(count)
      return systemRandom.bytes(count)
    },
  })
  counted.seal('browser', utf8('a'))
  counted.seal('browser', utf8('a'))
  assert.deepEqual(asked, [12, 12])
})

test('a tag that is cut short opens nothing', () => {
  // Attack: GCM with a short tag can be forged by trying; Node takes 4 bytes unless told otherwise.
  const sealed = Buffer.from(fromBase64url(vault.seal('browser', utf8('plain text here'))) ?? [])
  for (const length of [4, 8, 12, 15]) {
    const cut = sealed.subarray(0, sealed.length - 16 + length).toString('base64url')
    assert.equal(vault.open('browser', cut), undefined)
  }
})

test('texts are equal in constant time when they are equal, and only then', () => {
  assert.equal(equalInConstantTime('', ''), true)
  assert.equal(equalInConstantTime('abc', 'abc'), true)
  assert.equal(equalInConstantTime('abc', 'abd'), false)
  assert.equal(equalInConstantTime('abc', 'ab'), false)
  assert.equal(equalInConstantTime('é', 'e'), false)
  // Two UTF-16 units each, but 2 and 4 bytes.
  assert.equal(equalInConstantTime('ab', '😀'), false)
})

test('D-159: what strangers hold sealed ends with either secret; what is stored sealed, with the installation secret alone', () => {
  const bytes = () => systemRandom.bytes(INSTALLATION_SECRET_BYTES)
  const before = createVault(secret, systemRandom, bytes())
  const after = createVault(secret, systemRandom, bytes())
  for (const purpose of ['auth-request', 'idp-round-trip', 'kept-primary'] as const) {
    const sealed = before.seal(purpose, utf8('plain'))
    assert.deepEqual(before.open(purpose, sealed), utf8('plain'))
    assert.equal(after.open(purpose, sealed), undefined)
  }
  for (const purpose of [
    'signing-key',
    'authority-key',
    'totp-secret',
    'hashing-secret',
  ] as const) {
    assert.deepEqual(after.open(purpose, before.seal(purpose, utf8('plain'))), utf8('plain'))
  }
})
