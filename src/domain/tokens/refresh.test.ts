/**
 * What a refresh token is worth, moment by moment: spent once, told apart when it comes again, refused when its
 * identity may no longer log in. D-27, R038 to R048. On the real store, in memory.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts, storePorts } from '../../../test/support/fake-ports.ts'
import { externalSigner } from '../../../test/support/idp/external-idp.ts'
import {
  anIdentity,
  anOidcSession,
  aPolicy,
  CALLER,
  proven,
  refusalOf,
  rulesOf,
  WITH_TOTP,
} from '../../../test/support/people.ts'
import type { ApiSessionId, AuthenticatorId, ExternalJwtSignerId } from '../../base/ids.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { createVault } from '../../base/secrets/vault.ts'
import { days, hours, milliseconds, minutes, seconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import type { Scope } from '../../protocol/oidc.ts'
import { openStore } from '../../store/open.ts'
import type { AuditEvent, TokenRefusalReason } from '../audit/events.ts'
import { createFoldRepeats } from '../audit/fold-repeats.ts'
import { createGuessOrder } from '../factors/guessing/guess-order.ts'
import { NO_FACTORS } from '../factors/proven.ts'
import { newRefreshToken, refreshTokenHash } from '../factors/refresh-token.ts'
import type { Authenticator } from '../identities/authenticator.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { OidcSession, SessionEnding } from '../sessions/api-session.ts'
import { tellCopies } from '../sessions/ending/tell-copies.ts'
import { createSigningKeys } from './keys/signing-keys.ts'
import type { TokenPorts } from './ports.ts'
import { type Refresh, refresh as refreshTokens } from './refresh.ts'

const ACCESS = minutes(30)
const REFRESH = hours(24)
const SCOPES: readonly Scope[] = ['openid', 'profile', 'offline_access']
const AUTHENTICATOR = 'authenticator-1' as AuthenticatorId

const PASSWORD: Authenticator = {
  id: AUTHENTICATOR,
  method: 'updb',
  identityId: anIdentity().id,
  username: 'zoe',
  passwordHash: 'hash',
  lockedUntil: undefined,
  tags: {},
  credentialVersion: 0,
  lastUsedAt: undefined,
  createdAt: NOON,
  updatedAt: NOON,
}

interface Options {
  readonly retryWindow?: ReturnType<typeof seconds>
  readonly session?: Partial<OidcSession>
}

/** An identity with a password, a session of its own, and the refresh token of that session. */
async function world(t: TestContext, options: Options = {}) {
  /** Of commits that have happened. */
  const events: AuditEvent[] = []
  const store = await openStore({ kind: 'sqlite', path: ':memory:' }, (kept) => {
    events.push(...kept.map(({ event }) => event))
  })
  t.after(() => store.close())
  const clock = new ManualClock()
  const vault = createVault(randomBytes(32), systemRandom)
  const random = systemRandom
  const felt: SessionEnding[] = []
  const rules = { ...rulesOf({}), policy: (): AuthPolicy | undefined => aPolicy() }
  /** What happens while the tokens are being signed: after the last signature. */
  const meanwhile = { happen: async (): Promise<unknown> => undefined }

  const signingKeys = createSigningKeys({
    store: store.signingKeys,
    vault,
    clock,
    algorithms: { access: 'ES256', id: 'ES256' },
    rotation: days(90),
    tokenLife: ACCESS,
  })
  await signingKeys.rotateIfDue()
  const ports = fakePorts<TokenPorts>({
    ...storePorts(store),
    clock,
    random,
    vault,
    rules,
    foldRepeats: createFoldRepeats({ clock }),
    clientId: 'service',
    otherClientIds: [],
    audience: 'service',
    signingKeys: {
      async sign(kind, claimsFor) {
        const signed = await signingKeys.sign(kind, claimsFor)
        if (kind === 'id') await meanwhile.happen()
        return signed
      },
    },
    transaction: tellCopies(store.transaction, {
      endedSessions: { add: (ending) => felt.push(ending) },
      rules: { refresh: async () => {} },
    }),
    beginGuess: createGuessOrder(),
    accessTokenLife: ACCESS,
    idTokenLife: ACCESS,
    refreshTokenDuration: REFRESH,
  })
  const withWindow = (refreshRetryWindow = options.retryWindow ?? seconds(0)) => {
    const windowed = fakePorts<TokenPorts>({ ...ports, refreshRetryWindow })
    return (wish: Refresh) => refreshTokens(windowed, wish)
  }
  const refresh = withWindow()
  const ask = (token: Secret, changes: Partial<Refresh> = {}) => ({
    clientId: 'service',
    refreshToken: token,
    scope: undefined,
    caller: CALLER,
    ...changes,
  })

  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(anIdentity())
  await store.authenticators.insert(PASSWORD)
  const open = async (changes: Partial<OidcSession> = {}): Promise<Secret> => {
    const session = anOidcSession({ scopes: SCOPES, ...options.session, ...changes })
    await store.apiSessions.insert(session)
    const token = newRefreshToken(random)
    await store.refreshTokens.insert({
      hash: refreshTokenHash(vault, token),
      sessionId: session.id,
      issuedAt: NOON,
      expiresAt: plus(NOON, REFRESH),
      spent: undefined,
    })
    return token
  }

  return {
    store,
    clock,
    vault,
    rules,
    felt,
    meanwhile,
    token: await open(),
    open,
    withWindow,
    refresh: (token: Secret, changes?: Partial<Refresh>) => refresh(ask(token, changes)),
    ask,
    stored: (token: Secret) => store.refreshTokens.find(refreshTokenHash(vault, token)),
    happened: () => events.map((event) => event.type),
    last: () => events.at(-1),
  }
}

const SESSION = anOidcSession().id
const INVALID = 'INVALID_REFRESH_TOKEN'

test('R038: a refresh spends the old token for a new one, and moves the end of the session', async (t) => {
  const { store, clock, vault, token, refresh, stored, happened, last } = await world(t)
  clock.pass(minutes(10))
  const { refreshToken, identityId, expiresInSeconds, scope } = await refresh(token)
  const now = plus(NOON, minutes(10))
  assert.deepEqual(await stored(token), {
    hash: refreshTokenHash(vault, token),
    sessionId: SESSION,
    issuedAt: NOON,
    expiresAt: plus(NOON, REFRESH),
    spent: { at: now, successor: refreshTokenHash(vault, refreshToken) },
  })
  assert.deepEqual(await stored(refreshToken), {
    hash: refreshTokenHash(vault, refreshToken),
    sessionId: SESSION,
    issuedAt: now,
    expiresAt: plus(now, REFRESH),
    spent: undefined,
  })
  assert.equal((await store.apiSessions.find(SESSION))?.expiresAt, plus(now, REFRESH))
  assert.deepEqual([identityId, expiresInSeconds], [anIdentity().id, 1_800])
  assert.equal(scope, 'openid profile offline_access')
  assert.deepEqual(happened(), ['token.refreshed'])
  assert.deepEqual((last() as { details?: unknown }).details, { scope })
})

test('R046: a refresh token has 256 bits, a prefix of its own, and is not what is stored', async (t) => {
  const { token, refresh, stored } = await world(t)
  const { refreshToken } = await refresh(token)
  const text = refreshToken.reveal()
  assert.match(text, /^lkr_[A-Za-z0-9_-]{43}$/)
  assert.equal(Buffer.from(text.slice(4), 'base64url').length, 32)
  assert.notEqual(text, token.reveal())
  assert.doesNotMatch(JSON.stringify(await stored(refreshToken)), new RegExp(text.slice(4)))
})

test('R031: another client is refused, and the token is not spent', async (t) => {
  const { token, refresh, stored } = await world(t)
  for (const clientId of ['another', '', 'Service']) {
    assert.equal((await refusalOf(refresh(token, { clientId }))).code, 'INVALID_CLIENT')
  }
  assert.equal((await stored(token))?.spent, undefined)
})

test('an unknown token, and one that looks like a good one, are refused', async (t) => {
  const { token, refresh } = await world(t)
  const good = token.reveal()
  for (const text of ['', 'lkr_', good.slice(4), `${good} `, good.toUpperCase(), `${good}=`]) {
    assert.equal((await refusalOf(refresh(new Secret(text)))).code, INVALID, text.slice(0, 8))
  }
})

test('a token is good until the moment it expires', async (t) => {
  const { clock, token, refresh } = await world(t)
  clock.pass(milliseconds(REFRESH - 1))
  const { refreshToken } = await refresh(token)
  clock.pass(REFRESH)
  assert.equal((await refusalOf(refresh(refreshToken))).code, INVALID)
})

test('R043: expiry slides with every refresh, up to the absolute end and no further', async (t) => {
  const endsAt = plus(NOON, hours(60))
  const { store, clock, token, refresh, stored } = await world(t, { session: { endsAt } })
  let current = token
  for (const expected of [hours(47), hours(60), hours(60)]) {
    clock.pass(expected === hours(47) ? hours(23) : hours(18))
    current = (await refresh(current)).refreshToken
    assert.equal((await stored(current))?.expiresAt, plus(NOON, expected))
  }
  // At 59 h: the last access token outlives the session, so its row does too, or no one could end it.
  assert.equal((await store.apiSessions.find(SESSION))?.expiresAt, endsAt)
  clock.pass(minutes(50))
  current = (await refresh(current)).refreshToken
  const tokenEnd = plus(NOON, milliseconds(hours(59) + minutes(50) + ACCESS))
  assert.equal((await store.apiSessions.find(SESSION))?.expiresAt, tokenEnd)
  clock.pass(minutes(10))
  assert.equal((await refusalOf(refresh(current))).code, INVALID)
})

test('R039: a spent token is a lost answer for ten seconds, and theft from then on', async (t) => {
  for (const [passed, isTheft] of [
    [milliseconds(0), false],
    [milliseconds(9_999), false],
    [milliseconds(10_000), true],
    [hours(1), true],
  ] as const) {
    const { store, clock, token, refresh, happened, stored, felt } = await world(t)
    const { refreshToken } = await refresh(token)
    clock.pass(passed)
    assert.equal((await refusalOf(refresh(token))).code, INVALID)
    const isOver = (await store.apiSessions.find(SESSION)) === undefined
    assert.equal(isOver, isTheft, `after ${passed} ms`)
    assert.equal((await stored(refreshToken)) === undefined, isTheft)
    const more = isTheft ? ['token.reused', 'session.ended'] : ['token.refused']
    assert.deepEqual(happened(), ['token.refreshed', ...more])
    assert.deepEqual(
      felt.map(({ subject }) => subject),
      isTheft ? [SESSION] : [],
    )
  }
})

test('R039: a spent token whose successor was used is theft at once', async (t) => {
  // Attack: the thief refreshes a stolen token, and its owner comes a moment later; or the other way round.
  const { store, token, refresh, stored, last } = await world(t)
  const { refreshToken } = await refresh(token)
  const second = await refresh(refreshToken)
  assert.equal((await refusalOf(refresh(token))).code, INVALID)
  assert.equal(await store.apiSessions.find(SESSION), undefined)
  assert.equal((last() as { reason?: string }).reason, 'refresh-token-reused')
  for (const one of [token, refreshToken, second.refreshToken]) {
    assert.equal(await stored(one), undefined)
    assert.equal((await refusalOf(refresh(one))).code, INVALID)
  }
})

test('R039: theft ends that session, and none of the others of the identity', async (t) => {
  const { store, clock, token, open, refresh } = await world(t)
  const id = 'session-2' as ApiSessionId
  const other = await open({ id })
  await refresh(token)
  clock.pass(minutes(1))
  await refusalOf(refresh(token))
  assert.equal(await store.apiSessions.find(SESSION), undefined)
  assert.equal((await store.apiSessions.find(id))?.id, id)
  await refresh(other)
})

test('R040: of fifty at once one gets through, and its token is the only one alive', async (t) => {
  const { store, token, refresh, happened } = await world(t)
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => refresh(token)))
  const won = outcomes.filter((outcome) => outcome.status === 'fulfilled')
  assert.equal(won.length, 1)
  assert.notEqual(
    await store.apiSessions.find(SESSION),
    undefined,
    'the session is not ended as stolen',
  )
  assert.deepEqual(
    happened().filter((type) => type === 'token.reused'),
    [],
  )
  assert.ok(won[0])
  await refresh(won[0].value.refreshToken)
})

test('R041: within the retry window a repeat gets the same successor again', async (t) => {
  const { clock, token, refresh, happened } = await world(t, { retryWindow: seconds(20) })
  const first = await refresh(token)
  clock.pass(milliseconds(19_999))
  const again = await refresh(token)
  assert.equal(again.refreshToken.reveal(), first.refreshToken.reveal())
  assert.notEqual(again.accessToken, first.accessToken)
  const [one, other] = [decodeJwt(first.accessToken), decodeJwt(again.accessToken)]
  assert.equal(one['z_asid'], other['z_asid'])
  assert.deepEqual(happened(), ['token.refreshed'])
  await refresh(first.refreshToken)
})

test('R041: the retry window ends when the successor is used', async (t) => {
  const { store, token, refresh } = await world(t, { retryWindow: seconds(20) })
  const { refreshToken } = await refresh(token)
  await refresh(refreshToken)
  assert.equal((await refusalOf(refresh(token))).code, INVALID)
  assert.equal(await store.apiSessions.find(SESSION), undefined)
})

test('R041: after the retry window a repeat is what it is without one', async (t) => {
  for (const [window, isTheft] of [
    [seconds(20), true],
    [seconds(5), false],
  ] as const) {
    const { store, clock, token, refresh } = await world(t, { retryWindow: window })
    await refresh(token)
    clock.pass(window)
    assert.equal((await refusalOf(refresh(token))).code, INVALID)
    assert.equal((await store.apiSessions.find(SESSION)) === undefined, isTheft)
  }
})

test('R041: of fifty at once within the retry window all get the same successor', async (t) => {
  const { token, refresh, happened } = await world(t, { retryWindow: seconds(20) })
  const all = await Promise.all(Array.from({ length: 50 }, () => refresh(token)))
  assert.equal(new Set(all.map(({ refreshToken }) => refreshToken.reveal())).size, 1)
  assert.deepEqual(
    happened().filter((type) => type === 'token.reused'),
    [],
  )
  assert.ok(all[0])
  await refresh(all[0].refreshToken)
})

test('R041: a token that was spent before the window was configured is not answered with a wrong one', async (t) => {
  const { store, token, refresh, ask, withWindow } = await world(t)
  const { refreshToken } = await refresh(token)
  const refreshLater = withWindow(minutes(1))
  assert.equal((await refusalOf(refreshLater(ask(token)))).code, INVALID)
  assert.notEqual(await store.apiSessions.find(SESSION), undefined)
  await refreshLater(ask(refreshToken))
})

for (const [asked, granted] of [
  [undefined, 'openid profile offline_access'],
  ['openid', 'openid'],
  ['offline_access openid', 'openid offline_access'],
  ['openid  openid', 'openid'],
] as const) {
  test(`R045: the scope ${asked} narrows the access token to ${granted}, and not the session`, async (t) => {
    const { token, refresh } = await world(t)
    const { accessToken, scope, refreshToken } = await refresh(token, { scope: asked })
    assert.equal(scope, granted)
    assert.equal(decodeJwt(accessToken)['scope'], granted)
    const next = await refresh(refreshToken)
    assert.equal(next.scope, 'openid profile offline_access')
  })
}

for (const asked of ['admin', 'openid admin', 'openid profile email', 'OPENID', ' ', '', '\t']) {
  test(`R045: the scope ${JSON.stringify(asked)} is refused, and the token is not spent`, async (t) => {
    const { token, refresh, stored } = await world(t)
    assert.equal((await refusalOf(refresh(token, { scope: asked }))).code, 'INVALID_SCOPE')
    assert.equal((await stored(token))?.spent, undefined)
    await refresh(token)
  })
}

test('R045: a refresh cannot widen to what was not granted at the login', async (t) => {
  const scopes: readonly Scope[] = ['openid', 'offline_access']
  const { token, refresh } = await world(t, { session: { scopes } })
  const scope = 'openid profile offline_access'
  assert.equal((await refusalOf(refresh(token, { scope }))).code, 'INVALID_SCOPE')
})

test('R048: z_asid, auth_time and amr are those of the login, for life', async (t) => {
  const session = { primary: proven({ at: plus(NOON, minutes(-5)) }), amr: ['pwd', 'otp', 'mfa'] }
  const { clock, token, refresh } = await world(t, { session })
  let current = token
  for (let i = 0; i < 3; i++) {
    clock.pass(hours(20))
    const { accessToken, idToken, refreshToken } = await refresh(current)
    for (const claims of [decodeJwt(accessToken), decodeJwt(idToken)]) {
      assert.equal(claims['z_asid'] ?? claims['sid'], SESSION)
      assert.equal(claims['auth_time'], (NOON - minutes(5)) / 1_000)
      assert.deepEqual(claims['amr'], ['pwd', 'otp', 'mfa'])
      assert.equal(claims.iat, clock.now() / 1_000)
    }
    assert.equal(decodeJwt(idToken)['nonce'], undefined)
    current = refreshToken
  }
})

type World = Awaited<ReturnType<typeof world>>
const OTHER_SIGNER = 'signer-1' as ExternalJwtSignerId

/** The reason that the event of each refusal has (D-133). */
const REASONS: Readonly<Record<string, TokenRefusalReason>> = {
  'is disabled': 'identity-disabled',
  'is gone': 'identity-missing',
  'has a policy without passwords': 'method-not-allowed',
  'has a policy that is gone': 'method-not-allowed',
  'has a policy that demands a code now': 'more-demanded',
  'has a policy that demands an external JWT now': 'more-demanded',
  'has lost the password it logged in with': 'authenticator-removed',
}

/** What an administrator may have done since the login. */
const CHANGES: Readonly<Record<string, (world: World) => unknown>> = {
  'is disabled': ({ store, clock }) =>
    store.identities.replaceDisablement(
      anIdentity().id,
      { at: clock.now(), until: undefined },
      clock.now(),
    ),
  'is gone': ({ store }) => store.identities.remove(anIdentity().id),
  'has a policy without passwords': ({ rules }) => {
    rules.policy = () => aPolicy({ updb: { allowed: false } })
  },
  'has a policy that is gone': ({ rules }) => {
    rules.policy = () => undefined
  },
  'has a policy that demands a code now': ({ rules }) => {
    rules.policy = () => aPolicy({ secondary: { requireTotp: true } })
  },
  'has a policy that demands an external JWT now': ({ rules }) => {
    rules.policy = () => aPolicy({ secondary: { requireExtJwt: OTHER_SIGNER } })
  },
  'has lost the password it logged in with': ({ store }) =>
    store.authenticators.remove(AUTHENTICATOR),
}

for (const [what, change] of Object.entries(CHANGES)) {
  test(`R047: a refresh is refused when the identity ${what}`, async (t) => {
    const here = await world(t)
    await change(here)
    assert.equal((await refusalOf(here.refresh(here.token))).code, INVALID)
    assert.equal((await here.stored(here.token))?.spent, undefined)
    assert.deepEqual(here.happened(), ['token.refused'])
    assert.equal((here.last() as { reason?: string }).reason, REASONS[what])
  })
}

test('D-133: an unknown token leaves no event, whatever its sender', async (t) => {
  // Attack: an anonymous caller sends invented tokens, to fill the database.
  const { refresh, happened } = await world(t)
  assert.equal((await refusalOf(refresh(new Secret('lkr_never_issued')))).code, INVALID)
  assert.deepEqual(happened(), [])
})

test('D-207: repeated refusals of a token create a few events per minute, which count all of them', async (t) => {
  // Attack, or a client in a loop: a genuine token of a disabled identity is shown without end.
  const here = await world(t)
  await CHANGES['is disabled']?.(here)
  const showOften = async () => {
    for (let i = 0; i < 25; i++) {
      assert.equal((await refusalOf(here.refresh(here.token))).code, INVALID)
    }
  }
  const counts = async () => {
    const { rows } = await here.store.events.list({ limit: 100, offset: 0 })
    return rows.filter(({ type }) => type === 'token.refused').map(({ count }) => count)
  }
  const ofAMinute = [...Array(10).fill(1), 15]
  await showOften()
  assert.deepEqual((await counts()).toSorted(), ofAMinute.toSorted())
  here.clock.pass(minutes(1))
  await showOften()
  assert.deepEqual((await counts()).toSorted(), [...ofAMinute, ...ofAMinute].toSorted())
})

test('R047: what the policy demands and the login has proven does not stop a refresh', async (t) => {
  const secondary = { factors: WITH_TOTP, extJwt: OTHER_SIGNER }
  const { rules, token, refresh } = await world(t, { session: { secondary } })
  rules.policy = () => aPolicy({ secondary: { requireTotp: true, requireExtJwt: OTHER_SIGNER } })
  rules.signer = (id) => externalSigner({ id })
  await refresh(token)
})

test('D-225: the signer of a demanded second JWT must still exist and be enabled', async (t) => {
  const secondary = { factors: NO_FACTORS, extJwt: OTHER_SIGNER }
  const { rules, token, refresh, last } = await world(t, { session: { secondary } })
  rules.policy = () => aPolicy({ secondary: { requireExtJwt: OTHER_SIGNER } })
  for (const signer of [undefined, externalSigner({ id: OTHER_SIGNER, enabled: false })]) {
    rules.signer = () => signer
    assert.equal((await refusalOf(refresh(token))).code, INVALID)
    assert.equal((last() as { reason?: string }).reason, 'signer-disabled')
  }
})

test('R047: admin status in the new token is that of now', async (t) => {
  const { store, token, refresh } = await world(t)
  const { accessToken, refreshToken } = await refresh(token)
  assert.equal(decodeJwt(accessToken)['z_ia'], false)
  await store.identities.remove(anIdentity().id)
  await store.identities.insert(anIdentity({ isAdmin: true }))
  await store.authenticators.insert(PASSWORD)
  assert.equal(decodeJwt((await refresh(refreshToken)).accessToken)['z_ia'], true)
})

test('D-34: an identity that is disabled while its tokens are signed gets none of them', async (t) => {
  // Attack: a refresh that has passed every check commits after the administrator has ended all sessions.
  const here = await world(t)
  here.meanwhile.happen = async () => CHANGES['is disabled']?.(here)
  assert.equal((await refusalOf(here.refresh(here.token))).code, INVALID)
  assert.equal((await here.stored(here.token))?.spent, undefined)
})

test('D-34: a session that ends while its tokens are signed stays ended', async (t) => {
  const { store, meanwhile, token, refresh } = await world(t)
  meanwhile.happen = () => store.apiSessions.remove(SESSION)
  assert.equal((await refusalOf(refresh(token))).code, INVALID)
  assert.equal(await store.apiSessions.find(SESSION), undefined)
})

test('a token that another refresh spends at the same time is refused, and not treated as stolen', async (t) => {
  const { store, meanwhile, token, refresh, happened } = await world(t)
  meanwhile.happen = () => {
    meanwhile.happen = async () => undefined
    return refresh(token)
  }
  assert.equal((await refusalOf(refresh(token))).code, INVALID)
  assert.notEqual(await store.apiSessions.find(SESSION), undefined)
  assert.deepEqual(happened(), ['token.refreshed', 'token.refused'])
})
