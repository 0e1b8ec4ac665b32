import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { rootCertificates } from 'node:tls'
import { changesBetween } from './changes.ts'

test('the old and the new value of each field that differs, nested ones by their paths', () => {
  const current = {
    name: 'Ada',
    isAdmin: false,
    externalId: undefined as string | undefined,
    roleAttributes: ['a'],
    scopes: { floor: 3, old: true } as Record<string, unknown>,
    primary: { updb: { allowed: true, maxAttempts: 5 } },
    tags: { key: 'secret' },
    appData: { key: 'secret' },
  }
  const changes = changesBetween(current, {
    name: 'Ada L.',
    isAdmin: false,
    externalId: 'e1',
    roleAttributes: ['a', 'b'],
    scopes: { floor: 4, new: null },
    primary: { updb: { allowed: true, maxAttempts: 10 } },
    // R108: free maps may hold secrets.
    tags: { key: 'another secret' },
    appData: { key: 'another secret' },
  })
  assert.deepEqual(changes, {
    name: { from: 'Ada', to: 'Ada L.' },
    externalId: { from: null, to: 'e1' },
    roleAttributes: { from: ['a'], to: ['a', 'b'] },
    'scopes.floor': { from: 3, to: 4 },
    'scopes.old': { from: true, to: null },
    'scopes.new': { from: null, to: null },
    'primary.updb.maxAttempts': { from: 5, to: 10 },
  })
})

test('a field that the change leaves out is not a change', () => {
  assert.deepEqual(changesBetween({ name: 'a', keys: { b: 1 } }, { name: 'a' }), {})
})

test('D-351: the size of the changes is bounded', () => {
  // Attack: an administrator's account fills the database with large values.
  const keys = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [`t${i}`, 'x'.repeat(5000)]),
  )
  const changes = changesBetween<{ keys: object }>({ keys: {} }, { keys })
  assert.equal(Object.keys(changes).length, 50)
  assert.ok(JSON.stringify(changes).length < 20_000)
  const [first] = Object.values(changes)
  assert.equal(first?.to, `${'x'.repeat(300)}…`)
})

test('a certificate is its fingerprint, and text that only looks like one is text', () => {
  const [certPem = ''] = rootCertificates
  const broken = '-----BEGIN CERTIFICATE----- no'
  const hex = new X509Certificate(certPem).fingerprint256.replaceAll(':', '').toLowerCase()
  assert.deepEqual(changesBetween({ certPem: broken }, { certPem }), {
    certPem: { from: broken, to: `SHA-256 ${hex}` },
  })
})

test('a key of the prototype is a key like any other', () => {
  const next = JSON.parse('{"keys": {"__proto__": "x", "constructor": "y"}}')
  const changes = changesBetween<{ keys: object }>({ keys: {} }, next)
  assert.deepEqual(Object.keys(changes), ['keys.__proto__', 'keys.constructor'])
  assert.deepEqual(changes['keys.constructor'], { from: null, to: 'y' })
})
