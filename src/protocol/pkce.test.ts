import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { isCodeChallenge, isCodeVerifier, verifierMatches } from './pkce.ts'

// RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

test('the pair of RFC 7636 appendix B matches', () => {
  assert.equal(isCodeVerifier(VERIFIER), true)
  assert.equal(isCodeChallenge(CHALLENGE), true)
  assert.equal(verifierMatches(VERIFIER, CHALLENGE), true)
})

test('another verifier, and the challenge itself, do not match', () => {
  assert.equal(verifierMatches(VERIFIER.replace('d', 'e'), CHALLENGE), false)
  // Attack: an attacker who saw the authorization request knows the challenge; `plain` would accept it.
  assert.equal(verifierMatches(CHALLENGE, CHALLENGE), false)
})

test('a verifier that breaks the rules matches nothing, not even its own hash (R032)', () => {
  for (const verifier of ['', 'short', 'a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(43)}+`]) {
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    assert.equal(isCodeVerifier(verifier), false, verifier)
    assert.equal(verifierMatches(verifier, challenge), false, verifier)
  }
})

test('verifiers of 43 to 128 unreserved characters are taken', () => {
  for (const verifier of ['a'.repeat(43), 'Z'.repeat(128), `${'0'.repeat(39)}-._~`]) {
    assert.equal(isCodeVerifier(verifier), true, verifier)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    assert.equal(verifierMatches(verifier, challenge), true, verifier)
  }
})

test('a challenge has exactly 43 base64url characters (R003)', () => {
  const bad = [
    '',
    'a'.repeat(42),
    'a'.repeat(44),
    `${'a'.repeat(43)}=`,
    `${'a'.repeat(42)}=`,
    `${'a'.repeat(42)}+`,
    `${'a'.repeat(42)}.`,
    `${'a'.repeat(42)}é`,
    `${'a'.repeat(43)}\n`,
    `\n${'a'.repeat(43)}`,
  ]
  for (const text of bad) assert.equal(isCodeChallenge(text), false, JSON.stringify(text))
})
