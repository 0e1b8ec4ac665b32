/** Names of identities that enroll themselves: what a certificate can do to them, and what it cannot. D-131. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CaId, IdentityId } from '../../base/ids.ts'
import { identityName, unusedIdentityName } from './identity-name.ts'

const identityId = 'identity-1' as IdentityId
const enrolling = (
  commonName: string | undefined,
  identityNameFormat = '[caName]-[commonName]',
) => ({
  ca: { id: 'ca-1' as CaId, name: 'Plant', identityNameFormat },
  commonName,
  identityId,
})

test('each placeholder stands for its value, as often as it is there', () => {
  const format = '[caId] [caName] [commonName] [identityId] [caName]'
  assert.equal(identityName(enrolling('pump', format)), 'ca-1 Plant pump identity-1 Plant')
})

test('what is not a placeholder stays, also when it looks like one', () => {
  assert.equal(
    identityName(enrolling('x', '[CANAME][toString][caName')),
    '[CANAME][toString][caName',
  )
})

test('a value is put in as it is: no placeholder and no pattern in it counts', () => {
  for (const odd of ['[caId]', '$&', '$1', '[commonName]', "$'"]) {
    assert.equal(identityName(enrolling(odd)), `Plant-${odd}`)
  }
})

test('control characters and line ends become blanks, and blanks at the ends go', () => {
  assert.equal(identityName(enrolling(' a\u0000\nb\u2028\r ')), 'Plant- a b')
  assert.equal(identityName(enrolling('\t\u0007\n', '[commonName]')), identityId)
  assert.equal(identityName(enrolling('\ud800', '[commonName]')), '\ufffd')
})

test('without a common name the id stands for it', () => {
  assert.equal(identityName(enrolling(undefined)), `Plant-${identityId}`)
})

test('a name has 256 characters at the most, and no letter is cut in half', () => {
  assert.equal(identityName(enrolling('a'.repeat(1_000))).length, 256)
  const faces = identityName(enrolling('😀'.repeat(200), '[commonName]'))
  assert.equal(faces, '😀'.repeat(128))
  assert.equal(identityName(enrolling('😀'.repeat(200), 'x[commonName]')), `x${'😀'.repeat(127)}`)
  const other = unusedIdentityName(enrolling('a'.repeat(1_000)))
  assert.equal(other.length, 256)
  assert.ok(other.endsWith(`-${identityId}`))
})
