/** A box opens with its passphrase alone; against an independent use of scrypt and AES-256-GCM. */
import assert from 'node:assert/strict'
import { createDecipheriv, scryptSync } from 'node:crypto'
import { test } from 'node:test'
import { utf8 } from '../encoding.ts'
import { openWithPassphrase, sealWithPassphrase } from './passphrase.ts'
import { systemRandom } from './random.ts'
import { Secret } from './secret.ts'

const passphrase = new Secret('correct horse battery staple')
const box = await sealWithPassphrase(passphrase, utf8('plain'), 'context', systemRandom)

test('a box is opened with the passphrase and the way it was made', async () => {
  assert.deepEqual(await openWithPassphrase(passphrase, box, 'context'), utf8('plain'))
  const key = scryptSync('correct horse battery staple', Buffer.from(box.salt, 'base64url'), 32, {
    N: 131_072,
    r: 8,
    p: 1,
    maxmem: 2 ** 28,
  })
  const bytes = Buffer.from(box.sealed, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
  decipher.setAAD(Buffer.from('context')).setAuthTag(bytes.subarray(-16))
  assert.equal(decipher.update(bytes.subarray(12, -16), undefined, 'utf8'), 'plain')
  decipher.final()
})

test('another passphrase, another context and a changed box open nothing', async () => {
  const other = new Secret('correct horse battery stable')
  assert.equal(await openWithPassphrase(other, box, 'context'), undefined)
  assert.equal(await openWithPassphrase(passphrase, box, 'other'), undefined)
  const bytes = Buffer.from(box.sealed, 'base64url')
  bytes[20] = (bytes[20] ?? 0) ^ 1
  const changed = { ...box, sealed: bytes.toString('base64url') }
  assert.equal(await openWithPassphrase(passphrase, changed, 'context'), undefined)
  for (const broken of ['', 'AAAA', '=', box.sealed.slice(0, 20)]) {
    assert.equal(await openWithPassphrase(passphrase, { ...box, sealed: broken }, ''), undefined)
    assert.equal(await openWithPassphrase(passphrase, { ...box, salt: broken }, ''), undefined)
  }
})
