import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proofName } from './proof-name.ts'

test('a proof is named in words', () => {
  for (const [amr, name] of [
    [['pwd'], 'Password'],
    [['pwd', 'otp', 'mfa'], 'Password + authenticator app'],
    [['swk', 'ext-jwt', 'mfa'], 'Certificate + External account'],
    // A passkey alone: RFC 8176 `user` says nothing more.
    [['pop', 'user', 'mfa'], 'Passkey'],
    [[], 'Unknown'],
  ] as const) {
    assert.equal(proofName(amr), name)
  }
})
