import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { anOidcSession, refusalOf } from '../../../test/support/people.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { createVault } from '../../base/secrets/vault.ts'
import { milliseconds } from '../../base/time/duration.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { ApiSession } from '../sessions/api-session.ts'
import type { CallSession } from '../sessions/call-session.ts'
import { createAccountSessions, FRESH } from './session.ts'

const ISSUER = 'https://localhost:1280/oidc' as Issuer
const OTHER = 'https://localhost:1281/oidc' as Issuer

function world() {
  const clock = new ManualClock()
  const session = anOidcSession()
  const stored = new Map<string, ApiSession>([[session.id, session]])
  const shown: string[] = []
  const call: CallSession = {
    kind: 'oidc',
    sessionId: session.id,
    identityId: session.identityId,
    isAdmin: false,
    authPolicyId: 'policy-1' as CallSession['authPolicyId'],
    configTypes: [],
    expiresAt: session.expiresAt,
    isPartial: undefined,
  }
  const sessions = createAccountSessions({
    brand: 'service',
    vault: createVault(new Uint8Array(32), systemRandom),
    clock,
    authenticateCall: async ({ bearers, ztSession }) => {
      assert.equal(ztSession, undefined)
      shown.push(...bearers.map((one) => one.reveal()))
      return call
    },
    apiSessions: { find: async (id) => stored.get(id) },
  })
  return { clock, sessions, call, shown, stored }
}

const certificate = () => undefined

test('the sealed token is judged like a bearer token, at the address that it was sealed for', async () => {
  const { sessions, shown } = world()
  const cookie = sessions.seal(new Secret('a token'), ISSUER)
  assert.ok(!Buffer.from(cookie, 'base64url').includes('a token'))
  await sessions.authenticate({ cookie, issuer: ISSUER, certificate }, 'full')
  assert.deepEqual(shown, ['a token'])
  for (const [bad, issuer] of [
    [cookie, OTHER],
    [undefined, ISSUER],
    ['', ISSUER],
    ['a token', ISSUER],
    [`${cookie}A`, ISSUER],
  ] as const) {
    const call = sessions.authenticate({ cookie: bad, issuer, certificate }, 'full')
    assert.equal((await refusalOf(call)).code, 'UNAUTHORIZED')
  }
  assert.deepEqual(shown, ['a token'])
})

test('the token of a form is that of its session and of no other form', () => {
  const { sessions, call } = world()
  const token = sessions.formToken(call, '/account/password')
  assert.equal(sessions.isFormToken(call, '/account/password', token), true)
  assert.equal(sessions.isFormToken(call, '/account/totp', token), false)
  const other = { ...call, sessionId: 'session-2' as CallSession['sessionId'] }
  assert.equal(sessions.isFormToken(other, '/account/password', token), false)
  for (const bad of ['', token.slice(1), `${token}x`, 'é'.repeat(token.length)]) {
    assert.equal(sessions.isFormToken(call, '/account/password', bad), false)
  }
})

test('a login is fresh for five minutes, and an ended session never is', async () => {
  const { sessions, call, clock, stored } = world()
  clock.pass(milliseconds(FRESH - 1))
  assert.equal(await sessions.isFresh(call), true)
  clock.pass(milliseconds(1))
  assert.equal(await sessions.isFresh(call), false)
  stored.clear()
  assert.equal((await refusalOf(sessions.isFresh(call))).code, 'UNAUTHORIZED')
})
