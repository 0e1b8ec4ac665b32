/** A way back in: D-49, D-140. On a real database in memory; the command is in test/process/admin-recover.test.ts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aLegacySession, anInvitation } from '../../../test/store/samples.ts'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import {
  type ApiSessionId,
  type AuthenticatorId,
  type AuthPolicyId,
  type EnrollmentId,
  type ExternalJwtSignerId,
  type IdentityId,
  newId,
  type TotpEnrollmentId,
} from '../../base/ids.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { INSTALLATION_SECRET_BYTES, type SecretHash } from '../../base/secrets/vault.ts'
import { minutes } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { factorDemands } from '../../protocol/factors/second-factors.ts'
import { openStore } from '../../store/open.ts'
import { auditPorts } from '../audit/ports.ts'
import { sessionOwner } from '../factors/factor-owner.ts'
import { lockRule } from '../factors/guessing/lock-rule.ts'
import { createTurns } from '../factors/guessing/turns.ts'
import { createPasswordHashing } from '../factors/passwords/hashing.ts'
import type { FreshAuthenticator } from '../identities/authenticator.ts'
import type { FreshIdentity } from '../identities/identity.ts'
import {
  type AuthPolicy,
  DEFAULT_POLICY_ID,
  defaultPolicy,
  PRODUCTION_POLICY_ID,
} from '../policies/auth-policy.ts'
import type { Store } from '../stores.ts'
import { install } from './installation.ts'
import { recoverAdministrator } from './recover-administrator.ts'

const random = systemRandom
const hashing = createPasswordHashing({
  random,
  turns: createTurns({ purpose: 'password hashing', concurrency: 2, queue: 100 }),
})
const NEW_PASSWORD = new Secret('a password that was drawn')

/** A first start, with the administrator `admin`. */
async function installation(t: TestContext) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  const clock = new ManualClock()
  const secret = random.bytes(INSTALLATION_SECRET_BYTES)
  const ports = {
    ...auditPorts({ clock, random }),
    transaction: store.transaction,
    hashing,
    accessTokenLife: minutes(30),
  }
  await install(ports, secret, new Secret('correct horse battery'))
  const recover = (wanted?: string) => recoverAdministrator(ports, wanted, NEW_PASSWORD)
  return { store, clock, recover, now: clock.now() }
}

async function identityNamed({ identities }: Store, name: string) {
  const { rows } = await identities.list({ limit: 100, offset: 0 })
  const found = rows.find((one) => one.name === name)
  assert.ok(found, name)
  return found
}

/** With a password where a username is given. */
async function add(
  store: Store,
  given: Partial<FreshIdentity> & { readonly name: string },
  username?: string,
): Promise<IdentityId> {
  const { identities, authenticators } = store
  const { createdAt } = await identityNamed(store, 'admin')
  const stamps = { createdAt, updatedAt: createdAt }
  const id = newId<IdentityId>(random)
  const outcome = await identities.insert({
    id,
    type: 'Default',
    isAdmin: false,
    externalId: undefined,
    authPolicyId: DEFAULT_POLICY_ID,
    roleAttributes: [],
    hosts: [],
    appData: {},
    tags: {},
    disabledAt: undefined,
    disabledUntil: undefined,
    ...stamps,
    ...given,
  })
  assert.equal(outcome, 'inserted')
  const authenticator: FreshAuthenticator = {
    id: newId<AuthenticatorId>(random),
    method: 'updb',
    identityId: id,
    username: username ?? '',
    passwordHash: 'nothing',
    lockedUntil: undefined,
    tags: {},
    ...stamps,
  }
  if (username !== undefined) assert.equal(await authenticators.insert(authenticator), 'inserted')
  return id
}

async function passwordOf({ authenticators }: Store, id: IdentityId) {
  const found = (await authenticators.listOf(id)).find((one) => one.method === 'updb')
  assert.ok(found?.method === 'updb')
  return found
}

async function eventsOf(store: Store) {
  const { rows } = await store.events.list({ limit: 100, offset: 0 })
  return rows.filter(({ type }) => !['identity.created', 'authenticator.created'].includes(type))
}

test('whatever stands between the administrator and a login is taken away, and the event says what', async (t) => {
  const { store, recover, clock, now } = await installation(t)
  const { id, ...admin } = await identityNamed(store, 'admin')
  const { id: passwordId } = await passwordOf(store, id)
  const rule = lockRule({ maxAttempts: 1, lockoutDurationMinutes: 60 }, now)
  const origin = { network: '192.0.2.1', device: undefined }
  await store.passwordFailures.add(passwordId, origin, rule, now)
  const enrollment = {
    id: 'enrollment' as TotpEnrollmentId,
    identityId: id,
    isVerified: false,
    owner: sessionOwner({ sessionId: 'session' as ApiSessionId }),
    sealedSecret: 'sealed',
    createdAt: now,
  }
  await store.totpEnrollments.replacePending(enrollment, ['code' as SecretHash])
  await store.totpEnrollments.markVerified(enrollment, now)
  for (let i = 0; i < 3; i++) {
    await store.codeGuesses.take(id, now, () => plus(now, minutes(60)))
  }
  await store.identities.replace({ ...admin, id, authPolicyId: PRODUCTION_POLICY_ID })
  await store.identities.replaceDisablement(id, { at: now, until: undefined }, now)
  for (const method of ['reset-password', 'reset-mfa'] as const) {
    const given = { id: method as EnrollmentId, identityId: id, tokenHash: method as SecretHash }
    const link = anInvitation(given, { method })
    assert.equal(await store.enrollments.insert(link), 'inserted')
  }
  const session = aLegacySession({ identityId: id, tokenHash: 'hash' as SecretHash })
  await store.apiSessions.insert(session)

  assert.deepEqual(await recover(), {
    outcome: 'recovered',
    name: 'admin',
    username: 'admin',
    policy: 'default',
    reset: ['password', 'policy', 'disablement', 'lock', 'totp'],
    endedSessions: 1,
  })
  const after = await identityNamed(store, 'admin')
  assert.equal(after.authPolicyId, DEFAULT_POLICY_ID)
  assert.equal(after.disabledAt, undefined)
  const password = await passwordOf(store, id)
  assert.equal(password.lockedUntil, undefined)
  assert.equal(password.credentialVersion, 1)
  assert.equal(await hashing.verify(password.passwordHash, NEW_PASSWORD, '192.0.2.1'), true)
  assert.equal(await store.totpEnrollments.find(id), undefined)
  assert.equal(await store.recoveryCodes.count(id), 0)
  assert.deepEqual(await store.enrollments.listOf(id), [], 'D-375: a link removes no later factor')
  // Guesses at codes are forgotten: the next one is the first.
  const guessed = await store.codeGuesses.take(id, clock.now(), () => undefined)
  assert.deepEqual(guessed, { guesses: 1 })
  assert.equal(await store.apiSessions.find(session.id), undefined)
  const endings = await store.sessionEndings.listAfter(0)
  assert.deepEqual(
    endings.map(({ subject }) => subject),
    [session.id],
  )
  const types = (await eventsOf(store)).slice(0, 4).map(({ type }) => type)
  assert.deepEqual(types.sort(), [
    'administrator.recovered',
    'enrollment.deleted',
    'enrollment.deleted',
    'session.ended',
  ])
  const event = (await eventsOf(store)).find(({ type }) => type === 'administrator.recovered')
  assert.equal(event?.identityId, id)
  assert.deepEqual(event.details, {
    reset: ['password', 'policy', 'disablement', 'lock', 'totp'],
  })
})

test('where nothing but the password was lost, nothing but the password is reset', async (t) => {
  const { store, recover } = await installation(t)
  const before = await identityNamed(store, 'admin')
  const recovery = await recover()
  assert.ok(recovery.outcome === 'recovered')
  assert.deepEqual(recovery.reset, ['password'])
  const { updatedAt: _, ...after } = await identityNamed(store, 'admin')
  const { updatedAt: __, ...same } = before
  // D-226: a login that was in progress, with the former password or another credential, begins no session.
  assert.deepEqual(after, { ...same, voidedLogins: before.voidedLogins + 1 })
})

test('of several administrators one must be named, by name or id, and the others keep everything', async (t) => {
  const { store, recover } = await installation(t)
  const other = await add(store, { name: 'Bea', isAdmin: true }, 'bea')
  const admin = await identityNamed(store, 'admin')
  const before = await passwordOf(store, admin.id)
  assert.deepEqual(await recover(), {
    outcome: 'ambiguous',
    administrators: [
      { id: other, name: 'Bea' },
      { id: admin.id, name: 'admin' },
    ],
  })
  assert.deepEqual(await eventsOf(store), [])
  for (const wanted of ['Bea', other]) {
    const recovery = await recover(wanted)
    assert.equal(recovery.outcome, 'recovered')
    assert.equal(recovery.username, 'bea')
  }
  assert.deepEqual(await passwordOf(store, admin.id), before)
  // Names are compared as they are.
  for (const wanted of ['bea', 'Be', '', ' Bea', "Bea' or 1=1 --"]) {
    assert.deepEqual(await recover(wanted), { outcome: 'unknown' }, wanted)
  }
})

test('a disabled administrator counts: they are the one who is locked out', async (t) => {
  const { store, recover, now } = await installation(t)
  await add(store, { name: 'asleep', isAdmin: true, disabledAt: now })
  assert.equal((await recover()).outcome, 'ambiguous')
})

test('without an administrator none is chosen, and the named identity becomes one', async (t) => {
  const { store, recover } = await installation(t)
  const admin = await identityNamed(store, 'admin')
  await store.identities.replace({ ...admin, isAdmin: false })
  assert.deepEqual(await recover(), { outcome: 'ambiguous', administrators: [] })

  const id = await add(store, { name: 'certificate only' })
  const recovery = await recover('certificate only')
  assert.ok(recovery.outcome === 'recovered')
  assert.equal(recovery.username, 'certificate only')
  assert.deepEqual(recovery.reset, ['password', 'administrator'])
  assert.equal((await identityNamed(store, 'certificate only')).isAdmin, true)
  const { passwordHash } = await passwordOf(store, id)
  assert.equal(await hashing.verify(passwordHash, NEW_PASSWORD, '192.0.2.1'), true)
})

test('does not take a username from another identity', async (t) => {
  const { store, recover } = await installation(t)
  await add(store, { name: 'somebody' }, 'BOSS')
  const id = await add(store, { name: 'boss' })
  const recovery = await recover('boss')
  assert.ok(recovery.outcome === 'recovered')
  assert.match(recovery.username, /^recovered-/)
  assert.equal((await passwordOf(store, id)).username, recovery.username)
})

test('in a database without identities one is made, as at a first start', async (t) => {
  const { store, recover } = await installation(t)
  await store.identities.remove((await identityNamed(store, 'admin')).id)
  // A mistyped name creates no identity.
  assert.deepEqual(await recover('admin'), { outcome: 'unknown' })
  assert.deepEqual(await recover(), { outcome: 'created', username: 'admin' })
  const admin = await identityNamed(store, 'admin')
  assert.equal(admin.isAdmin, true)
  const { passwordHash } = await passwordOf(store, admin.id)
  assert.equal(await hashing.verify(passwordHash, NEW_PASSWORD, '192.0.2.1'), true)
})

/** What an administrator may have made of it, one after the other. */
const NOT_LEADING: readonly (readonly [string, (policy: AuthPolicy) => AuthPolicy])[] = [
  [
    'forbids passwords',
    (policy) => ({
      ...policy,
      primary: { ...policy.primary, updb: { ...policy.primary.updb, allowed: false } },
    }),
  ],
  [
    'demands the JWT of a signer',
    (policy) => ({
      ...policy,
      secondary: {
        ...factorDemands({}),
        requireExtJwt: 'signer' as ExternalJwtSignerId,
        requireBoundToken: false,
      },
    }),
  ],
]

for (const [what, change] of NOT_LEADING) {
  test(`a default policy that ${what} stays as it is, and the administrator gets one for passwords alone`, async (t) => {
    const { store, recover, now } = await installation(t)
    const changed = change(defaultPolicy(now))
    assert.equal(await store.authPolicies.replace(changed), 'replaced')
    const version = await store.ruleVersions.current()
    const other = await add(store, { name: 'other' })

    const recovery = await recover()
    assert.ok(recovery.outcome === 'recovered')
    assert.equal(recovery.policy, 'recovery')
    assert.deepEqual(recovery.reset, ['password', 'policy'])
    assert.deepEqual(await store.authPolicies.find(DEFAULT_POLICY_ID), changed)
    assert.equal((await store.identities.find(other))?.authPolicyId, DEFAULT_POLICY_ID)
    const policy = await store.authPolicies.find((await identityNamed(store, 'admin')).authPolicyId)
    const { primary, secondary } = policy ?? assert.fail('no policy')
    assert.deepEqual(
      [primary.updb.allowed, primary.cert.allowed, primary.extJwt.allowed],
      [true, false, false],
    )
    assert.deepEqual(secondary, {
      ...factorDemands({}),
      requireExtJwt: undefined,
      requireBoundToken: false,
    })
    // D-34: running instances read the rules again.
    assert.ok((await store.ruleVersions.current()) > version)
    const created = (await eventsOf(store)).find(({ type }) => type === 'policy.created')
    assert.deepEqual(created?.details, { id: policy?.id, name: 'recovery' })

    // A second time the same one serves.
    const again = await recover()
    assert.ok(again.outcome === 'recovered')
    assert.deepEqual([again.policy, again.reset], ['recovery', ['password']])
    assert.equal((await store.authPolicies.list()).length, 3)
  })
}

test('a policy named recovery that does not lead in is left alone', async (t) => {
  const { store, recover, now } = await installation(t)
  const [, forbid] = NOT_LEADING[0] ?? assert.fail()
  await store.authPolicies.replace(forbid(defaultPolicy(now)))
  const taken = { ...forbid(defaultPolicy(now)), id: 'x' as AuthPolicyId, name: 'recovery' }
  await store.authPolicies.insert(taken)
  const recovery = await recover()
  assert.ok(recovery.outcome === 'recovered')
  assert.match(recovery.policy, /^recovery-./)
  assert.deepEqual(await store.authPolicies.find(taken.id), taken)
})

test('a default policy that demands TOTP leads in: it is enrolled in the login', async (t) => {
  const { store, recover, now } = await installation(t)
  const policy = defaultPolicy(now)
  const secondary = { ...policy.secondary, requireTotp: true }
  await store.authPolicies.replace({ ...policy, secondary })
  const recovery = await recover()
  assert.ok(recovery.outcome === 'recovered')
  assert.equal(recovery.policy, 'default')
})
