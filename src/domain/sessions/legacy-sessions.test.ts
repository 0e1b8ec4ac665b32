/**
 * Calls with a `zt-session` token: D-36, D-51, D-52. Stores are small and written here; the copy of one second, the
 * renewal and what is outstanding are what is tested.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { externalSigner, newIdpKey, signJwt } from '../../../test/support/idp/external-idp.ts'
import {
  aLegacySession,
  anIdentity,
  aPolicy,
  refusalOf,
  rulesOf,
  WITH_TOTP,
  wordsOf,
} from '../../../test/support/people.ts'
import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { createVault } from '../../base/secrets/vault.ts'
import { type Duration, days, milliseconds, minutes, seconds } from '../../base/time/duration.ts'
import { epochSeconds, type Instant, instant, plus } from '../../base/time/instant.ts'
import { createSignerKeys } from '../ext-jwt/signer-keys.ts'
import { NOTHING_SECONDARY } from '../factors/proven.ts'
import type { TotpEnrollment } from '../factors/totp/totp-enrollment.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { LegacySession } from './api-session.ts'
import type { CallNeeds } from './call-session.ts'
import { createLegacySessionCache } from './legacy-session-cache.ts'
import { authenticateLegacySession } from './legacy-sessions.ts'
import type { SessionPorts } from './ports.ts'

const TIMEOUT = minutes(30)
const TOKEN = new Secret('a-token')
const SIGNER = externalSigner()
const IDP_KEY = await newIdpKey('key-1')
/** What the signer says about the identity of the session. */
const JWT = await jwtFrom(SIGNER.issuer)
const OTHER_JWT = await jwtFrom('https://other.example/')

async function jwtFrom(iss: string): Promise<Secret> {
  const claims = { iss, aud: SIGNER.audience, sub: anIdentity().externalId }
  return new Secret(await signJwt(IDP_KEY, { ...claims, exp: epochSeconds(NOON) + 86_400 }))
}
const INVALID =
  'UNAUTHORIZED: zt-session realm="zt-session", error="invalid", error_description="token is invalid"'

const vault = createVault(new Uint8Array(32).fill(7), systemRandom)

interface World {
  session: LegacySession | undefined
  identity: Identity | undefined
  policy: AuthPolicy | undefined
  isEnrolled: boolean
}

function world(given: Partial<World> = {}) {
  const clock = new ManualClock()
  const state: World = {
    session: aLegacySession({ tokenHash: vault.hash('session-token', 'a-token') }),
    identity: anIdentity(),
    policy: aPolicy(),
    isEnrolled: false,
    ...given,
  }
  const ended = new Set<string>()
  const renewed: { id: ApiSessionId; at: Instant; expiresAt: Instant }[] = []
  let reads = 0
  const rules: ReturnType<typeof rulesOf> = {
    ...rulesOf({ signers: [SIGNER] }),
    policy: (id) => (state.policy?.id === id ? state.policy : undefined),
  }
  const legacySessionCache = createLegacySessionCache({ clock })
  const ports = fakePorts<SessionPorts>({
    brand: 'service',
    vault,
    clock,
    legacySessionCache,
    sessionTimeout: TIMEOUT,
    rules,
    signerKeys: createSignerKeys({ clock, fetchJson: async () => ({ keys: [IDP_KEY.jwk] }) }),
    apiSessions: {
      findLegacy: async (tokenHash) => {
        reads += 1
        return state.session?.tokenHash === tokenHash ? state.session : undefined
      },
      renewLegacy: async (id, at, expiresAt) => {
        renewed.push({ id, at, expiresAt })
        if (state.session !== undefined) {
          state.session = { ...state.session, lastActivityAt: at, expiresAt }
        }
      },
    },
    identities: {
      find: async (id: IdentityId) => (state.identity?.id === id ? state.identity : undefined),
    },
    authenticators: { find: () => assert.fail('a login that has every field needs no look-up') },
    totpEnrollments: {
      find: async () => ({ isVerified: state.isEnrolled }) as TotpEnrollment,
    },
    endedSessions: { has: (id) => ended.has(id) },
  })
  const call = (needs: CallNeeds = 'full', bearers: readonly Secret[] = [], token = TOKEN) =>
    authenticateLegacySession(ports, token, bearers, needs)
  return {
    clock,
    state,
    legacySessionCache,
    call,
    renewed,
    reads: () => reads,
    end: () => ended.add(aLegacySession().id),
    refused: async (...given: Parameters<typeof call>) => wordsOf(await refusalOf(call(...given))),
  }
}

const SESSION = {
  kind: 'legacy',
  sessionId: aLegacySession().id,
  identityId: anIdentity().id,
  isAdmin: false,
  authPolicyId: aPolicy().id,
  configTypes: [],
  expiresAt: plus(NOON, TIMEOUT),
  isPartial: undefined,
}

const EVERY_NEED = ['full', 'partial', 'logout'] as const

test('D-36: a good token names its session', async () => {
  const { call } = world()
  for (const needs of EVERY_NEED) assert.deepEqual(await call(needs), SESSION)
})

test('D-36: the identity says whether it is an administrator, not the login', async () => {
  const { call } = world({ identity: anIdentity({ isAdmin: true }) })
  assert.equal((await call()).isAdmin, true)
})

test('D-36: an unknown token is invalid, and nothing is kept of it', async () => {
  // Attack: tokens of the attacker's choice fill the memory, or the token's hash is sent in its place.
  const { refused, reads } = world()
  const hash = vault.hash('session-token', 'a-token')
  for (const text of ['unknown', 'A-token', 'a-token ', '', hash, 'x'.repeat(10_000)]) {
    const before = reads()
    assert.equal(await refused('full', [], new Secret(text)), INVALID)
    assert.equal(await refused('full', [], new Secret(text)), INVALID)
    assert.equal(reads() - before, 2)
  }
})

const REFUSED: Readonly<Record<string, Partial<World>>> = {
  'a session that is gone': { session: undefined },
  'an identity that is gone': { identity: undefined },
  'a policy that is gone': { policy: undefined },
  'a disabled identity': { identity: anIdentity({ disabledAt: NOON }) },
  'a session whose idle time is over': {
    session: aLegacySession({
      tokenHash: vault.hash('session-token', 'a-token'),
      expiresAt: NOON,
    }),
  },
}

for (const [what, given] of Object.entries(REFUSED)) {
  test(`D-36: ${what} makes the token invalid, for logging out too`, async () => {
    const { refused, renewed } = world(given)
    for (const needs of EVERY_NEED) assert.equal(await refused(needs), INVALID)
    assert.deepEqual(renewed, [])
  })
}

test('D-34: a session that was ended is refused at once, also while it is kept', async () => {
  const { call, end, refused } = world()
  await call()
  end()
  for (const needs of EVERY_NEED) assert.equal(await refused(needs), INVALID)
})

test('D-36: what was read is kept for less than a second', async () => {
  const { call, clock, reads } = world()
  await call()
  clock.pass(milliseconds(999))
  await call()
  assert.equal(reads(), 1)
  clock.pass(milliseconds(1))
  await call()
  assert.equal(reads(), 2)
})

test('D-36: what changed elsewhere is seen within a second', async () => {
  const { call, clock, state, refused } = world()
  await call()
  state.session = undefined
  clock.pass(seconds(1))
  assert.equal(await refused(), INVALID)
})

test('a session that has changed here is read again at the next call', async () => {
  const { call, legacySessionCache, state, reads, refused } = world()
  await call()
  state.identity = anIdentity({ disabledAt: NOON })
  await legacySessionCache.forget('another' as ApiSessionId)
  await call()
  assert.equal(reads(), 1)
  await legacySessionCache.forget(aLegacySession().id)
  assert.equal(await refused(), INVALID)
})

test('D-36: a call renews the idle end, and writes it at most every tenth of the timeout', async () => {
  const { call, clock, renewed } = world()
  const tenth = milliseconds(TIMEOUT / 10)
  clock.pass(milliseconds(tenth - 1))
  assert.equal((await call()).expiresAt, plus(NOON, TIMEOUT))
  assert.deepEqual(renewed, [])

  clock.pass(milliseconds(1))
  const at = plus(NOON, tenth)
  const expiresAt = plus(at, TIMEOUT)
  assert.equal((await call()).expiresAt, expiresAt)
  assert.deepEqual(renewed, [{ id: aLegacySession().id, at, expiresAt }])

  // Also within the second in which what was read is kept.
  clock.pass(milliseconds(500))
  assert.equal((await call()).expiresAt, expiresAt)
  assert.equal(renewed.length, 1)
})

test('D-36: a session that is used all the time lives on, and one that is not ends', async () => {
  const { call, clock, refused } = world()
  for (let i = 0; i < 20; i++) {
    clock.pass(milliseconds(TIMEOUT - 1))
    await call()
  }
  clock.pass(TIMEOUT)
  assert.equal(await refused(), INVALID)
})

test('D-36: no call renews a session past its absolute end', async () => {
  const session = aLegacySession({
    tokenHash: vault.hash('session-token', 'a-token'),
    endsAt: plus(NOON, minutes(40)),
  })
  const { call, clock, refused } = world({ session })
  clock.pass(minutes(29))
  assert.equal((await call()).expiresAt, session.endsAt)
  clock.pass(minutes(11))
  assert.equal(await refused(), INVALID)
})

test('D-51: a refused call renews nothing', async () => {
  // Attack: a thief of a partial session keeps it alive for ever.
  const { clock, refused, renewed } = world({
    policy: aPolicy({ secondary: { requireTotp: true } }),
  })
  clock.pass(minutes(29))
  assert.equal(await refused('full'), INVALID)
  assert.deepEqual(renewed, [])
})

const withToken = (change: Partial<LegacySession>) =>
  aLegacySession({ tokenHash: vault.hash('session-token', 'a-token'), ...change })
const PROVEN = { ...NOTHING_SECONDARY, factors: WITH_TOTP }

const PARTIAL: Readonly<Record<string, Partial<World>>> = {
  'a session whose login demanded a code': { session: withToken({ demanded: WITH_TOTP }) },
  'D-52: a session whose policy demands a code by now': {
    policy: aPolicy({ secondary: { requireTotp: true } }),
  },
}

for (const [what, given] of Object.entries(PARTIAL)) {
  for (const isEnrolled of [true, false]) {
    const enrolled = isEnrolled ? 'enrolled' : 'not enrolled'
    test(`${what} is partial, and says what is outstanding to an identity that is ${enrolled}`, async () => {
      const { call } = world({ ...given, isEnrolled })
      const refusal = await refusalOf(call('full'))
      assert.equal(wordsOf(refusal), INVALID)
      const query = {
        typeId: 'MFA',
        format: 'alphaNumeric',
        httpMethod: 'POST',
        httpUrl: './authenticate/mfa',
        minLength: 6,
        maxLength: 6,
        provider: 'service',
        isTotpEnrolled: isEnrolled,
      }
      assert.deepEqual(refusal.authQueries, [query])
      for (const needs of ['partial', 'logout'] as const) {
        const { isPartial, sessionId } = await call(needs)
        assert.equal(sessionId, SESSION.sessionId)
        assert.deepEqual(isPartial?.authQueries, [query])
      }
    })
  }
}

test('a session on which a code was proven is full, whatever demands it', async () => {
  const session = withToken({ demanded: WITH_TOTP, secondary: PROVEN })
  const policy = aPolicy({ secondary: { requireTotp: true } })
  const { call } = world({ session, policy })
  assert.equal((await call()).isPartial, undefined)
})

test('R069: a demanded external JWT is asked for on every call but logout', async () => {
  const policy = aPolicy({ secondary: { requireExtJwt: SIGNER.id } })
  const { call, refused } = world({ policy })
  const unmet =
    'UNAUTHORIZED: Bearer realm="service-secondary-ext-jwt", error="missing", ' +
    'error_description="no matching token was provided", ' +
    `id="${SIGNER.id}", issuer="${SIGNER.issuer}"`
  assert.equal(await refused('full'), unmet)
  assert.equal(await refused('partial'), unmet)
  assert.equal(await refused('full', [OTHER_JWT]), unmet)
  assert.deepEqual(await call('full', [JWT]), SESSION)
  assert.equal(
    await refused('full'),
    unmet,
    'what was shown on one call does not count on the next',
  )
  assert.deepEqual(await call('logout'), SESSION)
})

test('D-51: where both are outstanding, the challenge is that of the JWT and both are queried', async () => {
  const policy = aPolicy({ secondary: { requireTotp: true, requireExtJwt: SIGNER.id } })
  const { call } = world({ policy })
  const refusal = await refusalOf(call('partial'))
  assert.deepEqual(
    refusal.challenges?.map(({ realm }) => realm),
    ['service-secondary-ext-jwt'],
  )
  assert.deepEqual(
    refusal.authQueries?.map(({ typeId }) => typeId),
    ['MFA', 'EXT-JWT'],
  )
  // With the JWT the code is what is left.
  const partial = await call('partial', [JWT])
  assert.deepEqual(
    partial.isPartial?.authQueries?.map(({ typeId }) => typeId),
    ['MFA'],
  )
})

test('D-52: a policy that is relaxed makes a session full again', async () => {
  const { call, state, refused } = world({ policy: aPolicy({ secondary: { requireTotp: true } }) })
  assert.equal(await refused('full'), INVALID)
  state.policy = aPolicy()
  assert.equal((await call('full')).isPartial, undefined)
})

test('the memory is bounded, and a session that was forgotten is read again', async () => {
  const clock = new ManualClock()
  let reads = 0
  const ports = fakePorts<SessionPorts>({
    brand: 'service',
    vault,
    clock,
    legacySessionCache: createLegacySessionCache({ clock }),
    sessionTimeout: TIMEOUT,
    rules: rulesOf({ policies: [aPolicy()] }),
    apiSessions: {
      findLegacy: async (tokenHash) => {
        reads += 1
        return aLegacySession({ tokenHash, endsAt: plus(NOON, days(1)) })
      },
      renewLegacy: async () => {},
    },
    identities: { find: async () => anIdentity() },
    authenticators: { find: async () => undefined },
    totpEnrollments: { find: async () => undefined },
    endedSessions: { has: () => false },
  })
  const call = (i: number) => authenticateLegacySession(ports, new Secret(`token-${i}`), [], 'full')
  for (let i = 0; i <= 10_000; i++) await call(i)
  assert.equal(reads, 10_001)
  await call(10_000)
  await call(1)
  assert.equal(reads, 10_001, 'those that are kept')
  await call(0)
  assert.equal(reads, 10_002, 'the oldest is not')
})

test('the time of day decides when a session ends, not the uptime', async () => {
  // A machine that slept: its clock has moved on, its uptime may not have.
  let ahead: Duration = milliseconds(0)
  const { call, clock } = world()
  const now = clock.now.bind(clock)
  clock.now = () => instant(now() + ahead)
  await call()
  ahead = TIMEOUT
  assert.equal(wordsOf(await refusalOf(call())), INVALID)
})
