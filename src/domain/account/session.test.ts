import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { anOidcSession, aPolicy, refusalOf, rulesOf } from '../../../test/support/people.ts'
import { base64url, utf8 } from '../../base/encoding.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { createVault } from '../../base/secrets/vault.ts'
import { milliseconds } from '../../base/time/duration.ts'
import { epochSeconds } from '../../base/time/instant.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { ACCESS_TOKEN_TYPE } from '../../protocol/service-claims.ts'
import type { ApiSession } from '../sessions/api-session.ts'
import type { CallSession } from '../sessions/call-session.ts'
import { createVerifiedTokens } from '../tokens/keys/verified-tokens.ts'
import type { AccountPorts } from './ports.ts'
import {
  authenticateAccount,
  FRESH,
  formToken,
  isFormToken,
  isFreshLogin,
  sealAccountSession,
} from './session.ts'

const ISSUER = 'https://localhost:1280/oidc' as Issuer
const OTHER = 'https://localhost:1281/oidc' as Issuer

/** Readable as a token of ours; whether it is good is decided by the keys. */
const TOKEN = `${base64url(utf8('{}'))}.${base64url(utf8(JSON.stringify({ iss: ISSUER })))}.AA`

const claimsOf = ({ id, identityId, expiresAt }: ApiSession) => ({
  iss: ISSUER,
  sub: identityId,
  jti: 'token-1',
  iat: 0,
  exp: epochSeconds(expiresAt),
  client_id: 'service',
  auth_time: 1_800_000_000,
  scope: 'openid',
  amr: ['pwd'],
  z_t: ACCESS_TOKEN_TYPE,
  z_asid: id,
  z_ia: false,
  z_ct: [],
  z_ap: 'policy-1',
})

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
  const ports = fakePorts<AccountPorts>({
    brand: 'service',
    vault: createVault(new Uint8Array(32), systemRandom),
    clock,
    issuers: () => [ISSUER],
    signingKeys: {
      verify: async (_kind, token) => {
        shown.push(token)
        return { outcome: 'good', kid: 'key-1', payload: claimsOf(session) }
      },
    },
    verifiedTokens: createVerifiedTokens(),
    endedSessions: { has: () => false, isStale: () => false },
    rules: rulesOf({ policies: [aPolicy()] }),
    apiSessions: { find: async (id) => stored.get(id) },
  })
  return { clock, ports, call, shown, stored }
}

const certificate = () => undefined

test('the sealed token is judged like a bearer token, at the address that it was sealed for', async () => {
  const { ports, call, shown } = world()
  const cookie = sealAccountSession(ports, 'account', new Secret(TOKEN), ISSUER)
  assert.ok(!Buffer.from(cookie, 'base64url').includes(TOKEN))
  const good = { site: 'account', cookie, issuer: ISSUER, certificate } as const
  assert.deepEqual(await authenticateAccount(ports, good, 'full'), call)
  assert.deepEqual(shown, [TOKEN])
  for (const [bad, issuer] of [
    [cookie, OTHER],
    [undefined, ISSUER],
    ['', ISSUER],
    [TOKEN, ISSUER],
    [`${cookie}A`, ISSUER],
  ] as const) {
    const refused = authenticateAccount(
      ports,
      { site: 'account', cookie: bad, issuer, certificate },
      'full',
    )
    assert.equal((await refusalOf(refused)).code, 'UNAUTHORIZED')
  }
  const elsewhere = authenticateAccount(ports, { ...good, site: 'console' }, 'full')
  assert.equal((await refusalOf(elsewhere)).code, 'UNAUTHORIZED', 'a cookie is for one site alone')
  assert.deepEqual(shown, [TOKEN])
})

test('the token of a form is that of its session and of no other form', () => {
  const { ports, call } = world()
  const token = formToken(ports, 'account', call, '/account/password')
  assert.equal(isFormToken(ports, 'account', call, '/account/password', token), true)
  assert.equal(isFormToken(ports, 'account', call, '/account/totp', token), false)
  assert.equal(isFormToken(ports, 'console', call, '/account/password', token), false)
  const other = { ...call, sessionId: 'session-2' as CallSession['sessionId'] }
  assert.equal(isFormToken(ports, 'account', other, '/account/password', token), false)
  for (const bad of ['', token.slice(1), `${token}x`, 'é'.repeat(token.length)]) {
    assert.equal(isFormToken(ports, 'account', call, '/account/password', bad), false)
  }
})

test('a login is fresh for five minutes, and an ended session never is', async () => {
  const { ports, call, clock, stored } = world()
  clock.pass(milliseconds(FRESH - 1))
  assert.equal(await isFreshLogin(ports, call), true)
  clock.pass(milliseconds(1))
  assert.equal(await isFreshLogin(ports, call), false)
  stored.clear()
  assert.equal((await refusalOf(isFreshLogin(ports, call))).code, 'UNAUTHORIZED')
})
