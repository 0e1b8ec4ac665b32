/** What a browser keeps while a person is at an IdP: D-155, D-156. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proven } from '../../../../test/support/people.ts'
import type { ExternalJwtSignerId } from '../../../base/ids.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault } from '../../../base/secrets/vault.ts'
import { instant } from '../../../base/time/instant.ts'
import type { AuthRequestKey } from '../request/auth-request.ts'
import { keepPrimary, openKept } from './kept-primary.ts'
import { keyOfState, newProofs, newState, openRoundTrip, sealRoundTrip } from './round-trip.ts'

const vault = createVault(new Uint8Array(32), systemRandom)
const otherVault = createVault(new Uint8Array(32).fill(1), systemRandom)
const KEY = 'AAAAAAAAAAAAAAAAAAAAAA' as AuthRequestKey
const OTHER_KEY = 'BBBBBBBBBBBBBBBBBBBBBB' as AuthRequestKey

const trip = {
  authRequestId: 'sealed-id',
  signerId: 'signer-1' as ExternalJwtSignerId,
  issuer: 'https://idp.example',
  role: 'secondary',
  redirectUri: 'https://localhost:1280/oidc/login/ext-jwt/callback',
  verifier: 'verifier',
  nonce: 'nonce',
  sentAt: instant(1_800_000_000_000),
} as const

test('what was sealed for a state is opened by that state alone', () => {
  const state = newState(KEY, systemRandom)
  const sealed = sealRoundTrip(vault, trip, state)
  assert.deepEqual(openRoundTrip(vault, sealed, state), trip)
  assert.equal(openRoundTrip(vault, sealed, newState(KEY, systemRandom)), undefined)
  assert.equal(openRoundTrip(otherVault, sealed, state), undefined)
})

test('the verifier and the nonce cannot be read out of the cookie', () => {
  const sealed = sealRoundTrip(vault, trip, newState(KEY, systemRandom))
  const decoded = Buffer.from(sealed.split('.')[1] ?? '', 'base64url').toString('latin1')
  assert.doesNotMatch(decoded, /verifier|nonce|idp\.example/)
})

test('texts that were not sealed here do not open', () => {
  const state = newState(KEY, systemRandom)
  const sealed = sealRoundTrip(vault, trip, state)
  for (const text of ['', '.', 'x', 'x.y', `${sealed}.`, `${sealed}.x`, sealed.slice(0, -1)]) {
    assert.equal(openRoundTrip(vault, text, state), undefined, text)
  }
})

test('a state names its login, and nothing else is a state', () => {
  assert.equal(keyOfState(newState(KEY, systemRandom)), KEY)
  for (const text of [
    '',
    KEY,
    `${KEY}.`,
    `.${KEY}`,
    `${KEY}.${KEY}.`,
    `${KEY}x.${KEY}`,
    `../${KEY}`,
  ]) {
    assert.equal(keyOfState(text), undefined, text)
  }
})

test('verifiers are as RFC 7636 wants them, and never the same', () => {
  const [one, other] = [newProofs(systemRandom), newProofs(systemRandom)]
  assert.match(one.verifier, /^[\w-]{43}$/)
  assert.notEqual(one.verifier, other.verifier)
  assert.notEqual(one.nonce, other.nonce)
})

const transaction = () => assert.fail('a password spends nothing')

test('what is kept of a primary login counts for that login alone', async () => {
  const kept = { primary: proven(), configTypes: ['a'] }
  const text = await keepPrimary({ vault, transaction }, { kept, take: undefined }, KEY)
  const opened = openKept(vault, text, KEY)
  assert.equal(opened?.primary.identityId, kept.primary.identityId)
  assert.equal(opened?.primary.credentialVersion, kept.primary.credentialVersion)
  assert.deepEqual(opened?.configTypes, ['a'])
  assert.equal(openKept(vault, text, OTHER_KEY), undefined)
  assert.equal(openKept(otherVault, text, KEY), undefined)
  assert.equal(openKept(vault, 'forged', KEY), undefined)
  assert.equal(openKept(vault, '', KEY), undefined)
})
