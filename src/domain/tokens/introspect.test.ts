/** Who may ask what a token is worth, and what is said of one that is worth nothing. RFC 7662, D-31. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts, storePorts } from '../../../test/support/fake-ports.ts'
import {
  aLegacySession,
  anIdentity,
  anOidcSession,
  aPassword,
  aPolicy,
  refusalOf,
  rulesOf,
} from '../../../test/support/people.ts'
import type { AuthPolicyId, ExternalJwtSignerId, IdentityId, TokenId } from '../../base/ids.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { createVault, type SecretHash } from '../../base/secrets/vault.ts'
import { hours, minutes } from '../../base/time/duration.ts'
import { epochSeconds, plus } from '../../base/time/instant.ts'
import { ACCESS_TOKEN_TYPE } from '../../protocol/service-claims.ts'
import { openStore } from '../../store/open.ts'
import { newRefreshToken, type RefreshToken, refreshTokenHash } from '../factors/refresh-token.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { EndedSubject } from '../sessions/api-session.ts'
import type { CallSession } from '../sessions/call-session.ts'
import type { AccessToken } from './access-token.ts'
import { introspect } from './introspect.ts'
import type { TokenPorts } from './ports.ts'

const SESSION = anOidcSession({ scopes: ['openid', 'offline_access'] })
const { id: sessionId, identityId, issuer, clientId } = SESSION
const ROUTER = anIdentity({
  id: 'router-1' as IdentityId,
  name: 'router',
  type: 'Router',
  externalId: undefined,
})

const PASSWORD = aPassword()

const ACCESS: AccessToken = {
  tokenId: 'token-1' as TokenId,
  sessionId,
  identityId,
  externalId: undefined,
  isAdmin: false,
  authPolicyId: 'policy-1' as AuthPolicyId,
  configTypes: [],
  amr: ['pwd'],
  boundTo: undefined,
  boundKey: undefined,
  signerId: undefined,
  caId: undefined,
  issuer,
  clientId,
  scope: 'openid',
  authenticatedAt: NOON,
  issuedAt: NOON,
  expiresAt: plus(NOON, minutes(30)),
}

/** The same as the claims of a token. */
const CLAIMS = {
  jti: ACCESS.tokenId,
  z_asid: ACCESS.sessionId,
  sub: ACCESS.identityId,
  z_ia: ACCESS.isAdmin,
  z_ap: ACCESS.authPolicyId,
  z_ct: [],
  z_t: ACCESS_TOKEN_TYPE,
  amr: ['pwd'],
  iss: ACCESS.issuer,
  client_id: ACCESS.clientId,
  auth_time: epochSeconds(ACCESS.authenticatedAt),
  scope: ACCESS.scope,
  iat: epochSeconds(ACCESS.issuedAt),
  exp: epochSeconds(ACCESS.expiresAt),
}

const GOOD_ACCESS = new Secret('access')

const asker = (changes: Partial<CallSession> = {}): CallSession => ({
  kind: 'oidc',
  sessionId,
  identityId: ROUTER.id,
  isAdmin: false,
  authPolicyId: 'policy-1' as AuthPolicyId,
  configTypes: [],
  expiresAt: plus(NOON, minutes(30)),
  isPartial: undefined,
  ...changes,
})

async function world(t: TestContext, policy = aPolicy()) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(anIdentity())
  await store.identities.insert(ROUTER)
  await store.authenticators.insert(PASSWORD)
  const clock = new ManualClock()
  const vault = createVault(randomBytes(32), systemRandom)
  const ended = new Set<EndedSubject>()
  const rules = rulesOf({ policies: [policy] })
  const ports = fakePorts<TokenPorts>({
    ...storePorts(store),
    vault,
    clock,
    audience: 'service',
    issuers: () => [issuer],
    signingKeys: {
      verify: async (kind, token) =>
        token === GOOD_ACCESS.reveal() && kind === 'access'
          ? { outcome: 'good', kid: 'key-1', payload: CLAIMS }
          : { outcome: 'invalid', why: 'not signed by us' },
    },
    endedSessions: { has: (subject) => ended.has(subject) },
    rules,
  })
  const aToken = async (changes: Partial<RefreshToken> = {}) => {
    const token = newRefreshToken(systemRandom)
    await store.refreshTokens.insert({
      hash: refreshTokenHash(vault, token),
      sessionId,
      issuedAt: NOON,
      expiresAt: plus(NOON, hours(24)),
      spent: undefined,
      ...changes,
    })
    return token
  }
  return {
    store,
    clock,
    ended,
    aToken,
    ask: (token: Secret, by = asker()) => introspect(ports, token, by),
  }
}

const INACTIVE = { isActive: false }

test('D-31: an identity that is neither administrator nor router learns nothing', async (t) => {
  const { ask, aToken } = await world(t)
  for (const by of [asker({ identityId }), asker({ identityId: 'gone' as IdentityId })]) {
    for (const token of [GOOD_ACCESS, await aToken(), new Secret('anything')]) {
      assert.equal((await refusalOf(ask(token, by))).code, 'FORBIDDEN')
    }
  }
})

test('an administrator and a router learn what an access token contains', async (t) => {
  const { ask } = await world(t)
  for (const by of [asker(), asker({ identityId, isAdmin: true })]) {
    const answer = await ask(GOOD_ACCESS, by)
    assert.deepEqual(answer, { isActive: true, kind: 'access', ...ACCESS })
  }
})

test('an access token is inactive when its session has ended, or it alone was revoked', async (t) => {
  for (const subject of [sessionId, ACCESS.tokenId]) {
    const { ask, ended } = await world(t)
    ended.add(subject)
    assert.deepEqual(await ask(GOOD_ACCESS), INACTIVE)
  }
})

const { primary, secondary } = aPolicy()
/** How a policy may change after a user logged in with a password. */
const STRICTER: Readonly<Record<string, Partial<AuthPolicy>>> = {
  'a code is demanded': { secondary: { ...secondary, requireTotp: true } },
  'a JWT is demanded': {
    secondary: { ...secondary, requireExtJwt: 'signer-1' as ExternalJwtSignerId },
  },
  'passwords are not allowed any more': {
    primary: { ...primary, updb: { ...primary.updb, allowed: false } },
  },
  'the policy is gone': { id: 'policy-2' as AuthPolicyId },
}

for (const [what, change] of Object.entries(STRICTER)) {
  test(`D-232: tokens are inactive when ${what}, as a call and a refresh are refused`, async (t) => {
    const { ask, aToken, store } = await world(t, { ...aPolicy(), ...change })
    await store.apiSessions.insert(SESSION)
    assert.deepEqual(await ask(GOOD_ACCESS), INACTIVE)
    assert.deepEqual(await ask(await aToken()), INACTIVE)
  })
}

test('a refresh token is identified by its session', async (t) => {
  const { store, ask, aToken } = await world(t)
  await store.apiSessions.insert(SESSION)
  assert.deepEqual(await ask(await aToken()), {
    isActive: true,
    kind: 'refresh',
    identityId,
    sessionId,
    clientId,
    issuer,
    scope: 'openid offline_access',
    boundKey: undefined,
    issuedAt: NOON,
    expiresAt: plus(NOON, hours(24)),
  })
})

test('D-226: a refresh token of a session that outlived the end of the others is active, as a refresh is good', async (t) => {
  const { store, ask, aToken } = await world(t)
  await store.apiSessions.insert(SESSION)
  await store.identities.voidLogins(identityId)
  assert.equal((await ask(await aToken())).isActive, true)
})

test('D-119: a refresh token is inactive when what proved its login is registered no more', async (t) => {
  const { store, ask, aToken } = await world(t)
  await store.apiSessions.insert(SESSION)
  await store.authenticators.remove(PASSWORD.id)
  assert.deepEqual(await ask(await aToken()), INACTIVE)
})

test('a refresh token that is spent, expired or without its session is inactive', async (t) => {
  const { store, clock, ask, aToken } = await world(t)
  assert.deepEqual(await ask(await aToken()), INACTIVE, 'no session')
  await store.apiSessions.insert(SESSION)
  const spent = { at: NOON, successor: 'another' as SecretHash }
  assert.deepEqual(await ask(await aToken({ spent })), INACTIVE, 'spent')
  const short = await aToken({ expiresAt: plus(NOON, hours(1)) })
  assert.equal((await ask(short)).isActive, true)
  clock.pass(hours(1))
  assert.deepEqual(await ask(short), INACTIVE, 'expired')
})

test('whatever else there is, is inactive and says nothing', async (t) => {
  const { store, ask, aToken } = await world(t)
  await store.apiSessions.insert(aLegacySession())
  for (const token of [await aToken(), new Secret(''), new Secret('lkr_x'), new Secret('a.b.c')]) {
    assert.deepEqual(await ask(token), INACTIVE)
  }
})
