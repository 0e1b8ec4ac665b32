/**
 * The verdicts of the password factor: SPEC Primary login, D-12, R076, R077. Stores are small and
 * written here; hashing is the real one, with a count of what it was asked to do.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuthenticatorId, AuthPolicyId, IdentityId } from '../../base/ids.ts'
import { type Instant, instant } from '../../base/instant.ts'
import { systemRandom } from '../../base/random.ts'
import { Secret } from '../../base/secret.ts'
import type { Identity, UpdbAuthenticator } from '../identities/identity.ts'
import { usernameKey } from '../identities/identity.ts'
import { type AuthPolicy, defaultPolicy } from '../policies/auth-policy.ts'
import { createPasswordHashing, type PasswordHashing } from './hashing.ts'
import { createPasswordFactor } from './password.ts'

const NOON = instant(1_800_000_000_000)
const PASSWORD = 'correct horse battery'

const hashing = createPasswordHashing({ random: systemRandom, concurrency: 2, queue: 100 })
const passwordHash = await hashing.hash(new Secret(PASSWORD))

const identityId = 'identity-1' as IdentityId
const POLICY: AuthPolicy = { ...defaultPolicy(NOON), id: 'policy-1' as AuthPolicyId }
const IDENTITY: Identity = {
  id: identityId,
  name: 'Zoë',
  type: 'Default',
  isAdmin: false,
  externalId: undefined,
  authPolicyId: POLICY.id,
  roleAttributes: [],
  appData: {},
  tags: {},
  disabledAt: undefined,
  disabledUntil: undefined,
  createdAt: NOON,
  updatedAt: NOON,
}
const AUTHENTICATOR: UpdbAuthenticator = {
  id: 'authenticator-1' as AuthenticatorId,
  method: 'updb',
  identityId,
  username: 'Zoë',
  passwordHash,
  createdAt: NOON,
  updatedAt: NOON,
}

interface World {
  readonly identity?: Identity | undefined
  readonly policy?: AuthPolicy | undefined
  readonly authenticator?: UpdbAuthenticator
}

/** A factor on a world of one identity, and what it did, step by step. */
function factorOn(given: World = {}) {
  const world = { identity: IDENTITY, policy: POLICY, authenticator: AUTHENTICATOR, ...given }
  const { identity, policy, authenticator } = world
  const steps: string[] = []
  const replaced: { id: AuthenticatorId; previous: string; next: string; at: Instant }[] = []

  const counted: PasswordHashing = {
    hash: (password) => {
      steps.push('hash')
      return hashing.hash(password)
    },
    verify: async (stored, password) => {
      const verdict = await hashing.verify(stored, password)
      steps.push('verify')
      return verdict
    },
    verifyNothing: async (password) => {
      await hashing.verifyNothing(password)
      steps.push('verify nothing')
    },
    isWeak: hashing.isWeak,
  }
  const factor = createPasswordFactor({
    authenticators: {
      findUpdb: async (key) =>
        key === usernameKey(authenticator.username) ? authenticator : undefined,
      replacePasswordHash: async (id, previous, next, at) => {
        replaced.push({ id, previous, next, at })
        return true
      },
    },
    identities: {
      find: async (id) => {
        steps.push('find identity')
        return id === identity?.id ? identity : undefined
      },
    },
    authPolicies: { find: async (id) => (id === policy?.id ? policy : undefined) },
    hashing: counted,
    clock: { now: () => NOON, uptime: () => assert.fail('the factor decides by the time of day') },
  })
  const submit = (username: string, password = PASSWORD) =>
    factor({ username, password: new Secret(password) })
  return { submit, steps, replaced }
}

const forbidding: AuthPolicy = {
  ...POLICY,
  primary: { updb: { ...POLICY.primary.updb, allowed: false } },
}
const disabled = (until?: number): Identity => ({
  ...IDENTITY,
  disabledAt: instant(NOON - 60_000),
  disabledUntil: until === undefined ? undefined : instant(until),
})

for (const username of ['Zoë', 'zoë', 'ZOE\u0308', 'ｚｏë']) {
  test(`the right password is accepted for ${username}`, async () => {
    const { submit, replaced } = factorOn()
    assert.deepEqual(await submit(username), {
      verdict: 'accepted',
      identity: IDENTITY,
      authenticator: AUTHENTICATOR,
    })
    assert.deepEqual(replaced, [])
  })
}

const REJECTED: Readonly<Record<string, readonly [reason: string, World, password?: string]>> = {
  'a wrong password': ['wrong-password', {}, 'wrong horse battery'],
  'a password with a space too many': ['wrong-password', {}, `${PASSWORD} `],
  'an empty password': ['wrong-password', {}, ''],
  'an identity that is gone': ['identity-missing', { identity: undefined }],
  'an identity that is disabled until further notice': [
    'identity-disabled',
    { identity: disabled() },
  ],
  'an identity that is disabled for another moment': [
    'identity-disabled',
    { identity: disabled(NOON + 1) },
  ],
  'a policy that forbids passwords': ['method-not-allowed', { policy: forbidding }],
  'a policy that is gone': ['method-not-allowed', { policy: undefined }],
  'a wrong password of a disabled identity': ['wrong-password', { identity: disabled() }, 'wrong'],
  'a wrong password where none is allowed': ['wrong-password', { policy: forbidding }, 'wrong'],
}

for (const [what, [reason, world, password]] of Object.entries(REJECTED)) {
  test(`R077: ${what} is rejected as ${reason}, for the work of one hash`, async () => {
    const { submit, steps, replaced } = factorOn(world)
    const verdict = await submit('zoë', password)
    assert.deepEqual(verdict, { verdict: 'rejected', reason, identityId })
    assert.deepEqual(hashes(steps), ['verify'])
    assert.deepEqual(replaced, [])
  })
}

test('R077: an unknown name is rejected as such, for the work of one hash', async () => {
  const { submit, steps } = factorOn()
  const verdict = await submit('nobody')
  assert.deepEqual(verdict, {
    verdict: 'rejected',
    reason: 'unknown-username',
    identityId: undefined,
  })
  assert.deepEqual(steps, ['verify nothing'])
})

test('a disablement that has ended is none', async () => {
  const { submit } = factorOn({ identity: disabled(NOON) })
  assert.equal((await submit('zoë')).verdict, 'accepted')
})

test('the identity is read after the hash was checked, not before', async () => {
  // Attack: an identity that is disabled while its password is being hashed still gets in.
  const { submit, steps } = factorOn()
  await submit('zoë')
  assert.deepEqual(steps, ['verify', 'find identity'])
})

/** A record of the same password from days when less work was enough; made by argon2 itself. */
async function weakHash(): Promise<string> {
  const { hash } = await import('@node-rs/argon2')
  return hash(PASSWORD, { algorithm: 2, memoryCost: 4_096, timeCost: 1, parallelism: 1 })
}

test('R076: a weak hash is replaced at login by one of today of the same password', async () => {
  const authenticator = { ...AUTHENTICATOR, passwordHash: await weakHash() }
  const { submit, replaced } = factorOn({ authenticator })
  assert.equal((await submit('zoë')).verdict, 'accepted')
  assert.equal(replaced.length, 1)
  const { id, previous, next = '', at } = replaced[0] ?? {}
  assert.equal(id, authenticator.id)
  assert.equal(previous, authenticator.passwordHash)
  assert.equal(at, NOON)
  assert.equal(hashing.isWeak(next), false)
  assert.equal(await hashing.verify(next, new Secret(PASSWORD)), true)
})

const KEPT: Readonly<Record<string, readonly [World, password?: string]>> = {
  'a wrong password': [{}, 'wrong horse battery'],
  'a disabled identity': [{ identity: disabled() }],
  'a policy that forbids passwords': [{ policy: forbidding }],
}

for (const [what, [world, password]] of Object.entries(KEPT)) {
  test(`R077: ${what} leaves a weak hash as it is, and costs no second one`, async () => {
    const authenticator = { ...AUTHENTICATOR, passwordHash: await weakHash() }
    const { submit, steps, replaced } = factorOn({ ...world, authenticator })
    assert.equal((await submit('zoë', password)).verdict, 'rejected')
    assert.deepEqual(replaced, [])
    assert.deepEqual(hashes(steps), ['verify'])
  })
}

/** The steps that cost the work of a hash. */
function hashes(steps: readonly string[]): readonly string[] {
  return steps.filter((step) => step !== 'find identity')
}
