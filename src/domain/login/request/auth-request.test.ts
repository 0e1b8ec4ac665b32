/** The steps from one state of a login to the next: SPEC States and transitions / Auth request; D-9, D-13, D-20. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON } from '../../../../test/support/clocks/manual-clock.ts'
import { proven, WITH_TOTP } from '../../../../test/support/people.ts'
import type { ApiSessionId, ExternalJwtSignerId, IdentityId } from '../../../base/ids.ts'
import type { SecretHash } from '../../../base/secrets/vault.ts'
import { minutes, seconds } from '../../../base/time/duration.ts'
import { plus } from '../../../base/time/instant.ts'
import type { Issuer } from '../../../protocol/oidc.ts'
import { NO_FACTORS } from '../../factors/proven.ts'
import {
  type AuthRequestKey,
  type AwaitingPrimary,
  acceptFactor,
  acceptPrimary,
  issueCode,
} from './auth-request.ts'
import type { VerifiedRedirect } from './verified-redirect.ts'

const AWAITING: AwaitingPrimary = {
  state: 'awaiting-primary',
  key: 'key-1' as AuthRequestKey,
  ask: {
    clientId: 'service',
    redirectUri: 'http://127.0.0.1/callback' as VerifiedRedirect,
    responseMode: 'query',
    issuer: 'https://localhost:1280/oidc' as Issuer,
    scopes: ['openid'],
    dpopKey: undefined,
    codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    state: 'a-state',
    nonce: undefined,
    prompt: undefined,
    maxAge: undefined,
    stepUp: undefined,
    configTypes: ['one'],
  },
  browser: undefined,
  expiresAt: plus(NOON, minutes(10)),
}
const ZOE = proven()
const BOB = proven({ identityId: 'identity-2' as IdentityId })
const SIGNER = 'signer-1' as ExternalJwtSignerId
const CODE = {
  sessionId: 's1' as ApiSessionId,
  hash: 'hash-1' as SecretHash,
  expiresAt: plus(NOON, seconds(60)),
}
const NEXT_CODE = {
  sessionId: 's2' as ApiSessionId,
  hash: 'hash-2' as SecretHash,
  expiresAt: plus(NOON, seconds(90)),
}

test('a proven primary factor makes the first revision, and nothing else is proven by it', () => {
  assert.deepEqual(acceptPrimary(AWAITING, ZOE, undefined, ['one']), {
    ...AWAITING,
    state: 'partially-authenticated',
    revision: 1,
    primary: ZOE,
    secondary: { factors: NO_FACTORS, extJwt: undefined },
    reusedSession: undefined,
  })
})

test('D-14: the external JWT that came along is proven with it', () => {
  const { secondary } = acceptPrimary(AWAITING, ZOE, SIGNER, [])
  assert.deepEqual(secondary, { factors: NO_FACTORS, extJwt: SIGNER })
})

test('D-9: the config types of the login body become those of the request; the rest of the ask stays', () => {
  const { ask } = acceptPrimary(AWAITING, ZOE, undefined, ['one', 'two'])
  assert.deepEqual(ask, { ...AWAITING.ask, configTypes: ['one', 'two'] })
})

test('D-7: no step extends the life of a request', () => {
  const partial = acceptPrimary(AWAITING, ZOE, undefined, [])
  for (const { expiresAt } of [
    partial,
    acceptFactor(partial, 'totp'),
    issueCode(partial, CODE, { byEnrollment: false }),
  ]) {
    assert.equal(expiresAt, AWAITING.expiresAt)
  }
})

test('a proven code is one revision more', () => {
  const partial = acceptPrimary(AWAITING, ZOE, SIGNER, [])
  assert.deepEqual(acceptFactor(partial, 'totp'), {
    ...partial,
    revision: 2,
    secondary: { factors: WITH_TOTP, extJwt: SIGNER },
  })
})

test('D-13: the same identity once more keeps its code, and the JWT is that of this call', () => {
  const partial = acceptFactor(acceptPrimary(AWAITING, ZOE, SIGNER, []), 'totp')
  const again = acceptPrimary(partial, proven({ method: 'cert' }), undefined, [])
  assert.equal(again.revision, 3)
  assert.equal(again.primary.method, 'cert')
  assert.deepEqual(again.secondary, { factors: WITH_TOTP, extJwt: undefined })
})

test('D-13: another identity starts over, and nothing that the first one proved counts', () => {
  // Attack: an attacker proves their own second factor, and then the victim's password, on one request.
  const partial = acceptFactor(acceptPrimary(AWAITING, ZOE, SIGNER, []), 'totp')
  const taken = acceptPrimary(partial, BOB, undefined, [])
  assert.equal(taken.primary, BOB)
  assert.deepEqual(taken.secondary, { factors: NO_FACTORS, extJwt: undefined })
  const back = acceptPrimary(taken, ZOE, undefined, [])
  assert.deepEqual(
    back.secondary,
    { factors: NO_FACTORS, extJwt: undefined },
    'also on the way back',
  )
})

test('D-226: the same identity starts over when its logins were voided in between', () => {
  const partial = acceptFactor(acceptPrimary(AWAITING, ZOE, SIGNER, []), 'totp')
  const anew = acceptPrimary(partial, { ...ZOE, voidedLogins: 1 }, undefined, [])
  assert.deepEqual(anew.secondary, { factors: NO_FACTORS, extJwt: undefined })
})

test('a code is issued with the change that completed the login, in one revision', () => {
  const partial = acceptFactor(acceptPrimary(AWAITING, ZOE, undefined, []), 'totp')
  assert.deepEqual(issueCode(partial, CODE, { byEnrollment: true }), {
    ...partial,
    state: 'code-issued',
    codeHash: CODE.hash,
    codeExpiresAt: CODE.expiresAt,
    sessionId: CODE.sessionId,
    byEnrollment: true,
  })
})

test('D-20: a second code takes the place of the first, once', () => {
  const partial = acceptFactor(acceptPrimary(AWAITING, ZOE, undefined, []), 'totp')
  const first = issueCode(partial, CODE, { byEnrollment: true })
  const second = issueCode(first, NEXT_CODE, { byEnrollment: false })
  assert.deepEqual(second, {
    ...first,
    revision: first.revision + 1,
    codeHash: NEXT_CODE.hash,
    codeExpiresAt: NEXT_CODE.expiresAt,
    sessionId: NEXT_CODE.sessionId,
    byEnrollment: false,
  })
})
