/**
 * The verdicts of the password factor: SPEC Primary login, D-12, R076, R077. Stores are small and
 * written here; hashing is the real one, with a count of what it was asked to do.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakePorts } from '../../../../test/support/fake-ports.ts'
import { anIdentity, aPassword, aPolicy, CALLER, rulesOf } from '../../../../test/support/people.ts'
import type { AuthenticatorId } from '../../../base/ids.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import { minutes } from '../../../base/time/duration.ts'
import { type Instant, instant, plus } from '../../../base/time/instant.ts'
import type { AuditEvent } from '../../audit/events.ts'
import { auditPorts } from '../../audit/ports.ts'
import { type UpdbAuthenticator, usernameKey } from '../../identities/authenticator.ts'
import type { Identity } from '../../identities/identity.ts'
import type { AuthPolicy } from '../../policies/auth-policy.ts'
import type { Stores } from '../../stores.ts'
import { createTurns } from '../guessing/turns.ts'
import type { FactorPorts } from '../ports.ts'
import type { GuessOrigin, PasswordFailures } from '../stores.ts'
import type { Rejected } from '../verdict.ts'
import { createPasswordHashing, type PasswordHashing } from './hashing.ts'
import { proveByPassword } from './password.ts'

const NOON = instant(1_800_000_000_000)
const PASSWORD = 'correct horse battery'

const hashing = createPasswordHashing({
  random: systemRandom,
  turns: createTurns({ purpose: 'password hashing', concurrency: 2, queue: 100 }),
})
const passwordHash = await hashing.hash(new Secret(PASSWORD))

const POLICY = aPolicy()
const IDENTITY = anIdentity()
const { id: identityId } = IDENTITY
const AUTHENTICATOR = aPassword({ username: 'Zoë', passwordHash })

const ORIGIN = { network: '192.0.2.1', device: undefined }

interface World {
  readonly identity?: Identity | undefined
  readonly policy?: AuthPolicy | undefined
  readonly authenticator?: UpdbAuthenticator
  readonly isLocked?: boolean
  /** The earlier guesses. */
  readonly earlier?: Promise<void>
}

const clock = {
  now: () => NOON,
  uptime: () => assert.fail('the factor decides by the time of day'),
}

/** A factor on a world of one identity, and what it did, step by step. */
function factorOn(given: World = {}) {
  const world = { identity: IDENTITY, policy: POLICY, authenticator: AUTHENTICATOR, ...given }
  const { identity, policy, authenticator, isLocked = false, earlier = Promise.resolve() } = world
  const steps: string[] = []
  /** Where each hash waited. */
  const lines: string[] = []
  const replaced: { id: AuthenticatorId; previous: string; next: string; at: Instant }[] = []

  const counted: PasswordHashing = {
    hash: (password) => {
      steps.push('hash')
      return hashing.hash(password)
    },
    verify: async (stored, password, from) => {
      lines.push(from)
      const verdict = await hashing.verify(stored, password, from)
      steps.push('verify')
      return verdict
    },
    verifyNothing: async (password, from) => {
      lines.push(from)
      await hashing.verifyNothing(password, from)
      steps.push('verify nothing')
    },
    isWeak: hashing.isWeak,
  }
  const ports = fakePorts<FactorPorts>({
    ...auditPorts({ clock, random: systemRandom }),
    authenticators: {
      findUpdb: async (key) =>
        key === usernameKey(authenticator.username) ? authenticator : undefined,
      replacePasswordHash: async (id, previous, next, at) => {
        replaced.push({ id, previous, next, at })
        return true
      },
    },
    passwordFailures: {
      clear: async (id, origin, now) => {
        assert.equal(origin.network, ORIGIN.network)
        assert.equal(now, NOON)
        if (id === '') {
          steps.push('clear nothing')
          return false
        }
        assert.equal(id, authenticator.id)
        steps.push('clear failures')
        return !isLocked
      },
    },
    identities: {
      find: async (id) => {
        steps.push('find identity')
        return id === identity?.id ? identity : undefined
      },
    },
    rules: rulesOf({ policies: policy === undefined ? [] : [policy] }),
    hashing: counted,
  })
  const submit = (username: string, password = PASSWORD, origin: GuessOrigin = ORIGIN) =>
    proveByPassword(
      ports,
      { username, password: new Secret(password) },
      { caller: CALLER, origin, guess: { earlier } },
    )
  return { submit, steps, lines, replaced }
}

const forbidding = aPolicy({ updb: { allowed: false } })
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
      policy: POLICY,
      primary: {
        method: 'password',
        identityId,
        authenticatorId: AUTHENTICATOR.id,
        credentialVersion: 0,
        certificate: undefined,
        signerId: undefined,
        voidedLogins: 0,
        at: NOON,
      },
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
  'the right password while a lock holds': ['password-locked', { isLocked: true }],
  'a wrong password while a lock holds': ['wrong-password', { isLocked: true }, 'wrong'],
  'a wrong password of a disabled identity': ['wrong-password', { identity: disabled() }, 'wrong'],
  'a wrong password where none is allowed': ['wrong-password', { policy: forbidding }, 'wrong'],
}

for (const [what, [reason, world, password]] of Object.entries(REJECTED)) {
  test(`R077: ${what} is rejected as ${reason}, for the work of one hash`, async () => {
    const { submit, steps, replaced } = factorOn(world)
    const verdict = await submit('zoë', password)
    assert.equal(verdict.verdict, 'rejected')
    const { count, ...rest } = verdict
    assert.deepEqual(rest, { verdict: 'rejected', reason, identityId })
    // D-22: what counts is a wrong password, and nothing else.
    const { calls } = await countsOf(count)
    assert.deepEqual(
      calls.map(([id]) => id),
      [reason === 'wrong-password' ? AUTHENTICATOR.id : ''],
    )
    assert.deepEqual(hashes(steps), ['verify'])
    const cleared = reason === 'password-locked' ? 'clear failures' : 'clear nothing'
    assert.deepEqual(steps.slice(1), ['find identity', cleared], 'and of the same look-ups')
    assert.deepEqual(replaced, [])
  })
}

test('R077: an unknown name is rejected as such, for the work of one hash', async () => {
  const { submit, steps } = factorOn()
  const verdict = await submit('nobody')
  assert.equal(verdict.verdict, 'rejected')
  const { count, ...rest } = verdict
  assert.deepEqual(rest, {
    verdict: 'rejected',
    reason: 'unknown-username',
    identityId: undefined,
  })
  assert.deepEqual(steps, ['verify nothing', 'find identity', 'clear nothing'])
  // And for the same statements as a failure that is counted.
  const { calls, events } = await countsOf(count)
  assert.deepEqual(
    calls.map(([id]) => id),
    [''],
  )
  assert.deepEqual(events, [])
})

test('a disablement that has ended has no effect', async () => {
  const { submit } = factorOn({ identity: disabled(NOON) })
  assert.equal((await submit('zoë')).verdict, 'accepted')
})

test('the identity is read after the hash was checked, not before', async () => {
  // Attack: an identity that is disabled while its password is being hashed still gets in.
  const { submit, steps } = factorOn()
  await submit('zoë')
  assert.deepEqual(steps, ['verify', 'find identity', 'clear failures'])
})

test('R079: the right password waits until the guesses before it are counted', async () => {
  // Attack: a hundred parallel guesses; the correct one is hashed before the failures of the others are written.
  const { promise, resolve } = Promise.withResolvers<void>()
  const { submit, steps } = factorOn({ earlier: promise })
  const verdict = submit('zoë')
  while (!steps.includes('find identity')) await new Promise(setImmediate)
  assert.deepEqual(steps, ['verify', 'find identity'])
  resolve()
  assert.equal((await verdict).verdict, 'accepted')
  assert.deepEqual(steps, ['verify', 'find identity', 'clear failures'])
})

for (const [what, [world, password]] of Object.entries({
  'a wrong password': [{}, 'wrong'],
  'the right password of a disabled identity': [{ identity: disabled() }, PASSWORD],
  'the right password where none is allowed': [{ policy: forbidding }, PASSWORD],
} satisfies Readonly<Record<string, readonly [World, string]>>)) {
  test(`R079: ${what} does not reset the count of failures`, async () => {
    const { submit, steps } = factorOn(world)
    assert.equal((await submit('zoë', password)).verdict, 'rejected')
    assert.ok(!steps.includes('clear failures'))
  })
}

test('a wrong password of a deleted identity is not counted', async () => {
  const { submit } = factorOn({ identity: undefined })
  const verdict = await submit('zoë', 'wrong')
  assert.equal(verdict.verdict, 'rejected')
  const { calls } = await countsOf(verdict.count)
  assert.deepEqual(
    calls.map(([id]) => id),
    [''],
  )
})

/** Counts a wrong password under this policy; answers what the store was asked, and the events. */
async function countUnder(policy: AuthPolicy, lockedUntil?: Instant) {
  const verdict = await factorOn({ policy }).submit('zoë', 'wrong')
  assert.equal(verdict.verdict, 'rejected')
  return countsOf(verdict.count, lockedUntil)
}

async function countsOf(count: Rejected['count'], lockedUntil?: Instant) {
  assert.ok(count !== undefined)
  const calls: Parameters<PasswordFailures['add']>[] = []
  const events: AuditEvent[] = []
  const reads: string[] = []
  const tx = {
    passwordFailures: {
      add: async (...args: Parameters<PasswordFailures['add']>) => {
        calls.push(args)
        return { lockedUntil }
      },
    },
    events: { insert: async (event: AuditEvent) => events.push(event) },
    identities: { find: async (id: string) => void reads.push(id) },
  }
  // Only these three are asked for; anything else in this transaction is a mistake and fails.
  await count(tx as unknown as Stores)
  assert.equal(events.length + reads.length, 1, 'R077: as many statements without a lock')
  return { calls, events }
}

const LOCKS: readonly (readonly [minutes: number, until: Instant, text: string])[] = [
  [15, plus(NOON, minutes(15)), '2027-01-15T08:15:00.000Z'],
  [1, plus(NOON, minutes(1)), '2027-01-15T08:01:00.000Z'],
  [0, instant(Date.UTC(9999, 11, 31, 23, 59, 59, 999)), '9999-12-31T23:59:59.999Z'],
]

for (const [lockoutDurationMinutes, lockUntil, text] of LOCKS) {
  test(`D-22: the failure that locks for ${lockoutDurationMinutes} minutes locks until ${text}, and is recorded`, async () => {
    const policy = aPolicy({ updb: { maxAttempts: 3, lockoutDurationMinutes } })
    const { calls, events } = await countUnder(policy, lockUntil)
    const [[id, origin, rule, now] = assert.fail('it is counted'), ...others] = calls
    assert.deepEqual([id, origin, now, others], [AUTHENTICATOR.id, ORIGIN, NOON, []])
    assert.deepEqual([rule.maxAttempts, rule.ceiling, rule.lockUntil(1)], [3, 100, lockUntil])
    assert.deepEqual(
      events.map(({ id, ...event }) => event),
      [
        {
          type: 'login.locked',
          identityId,
          at: NOON,
          caller: CALLER,
          details: { authenticatorId: AUTHENTICATOR.id, until: text },
        },
      ],
    )
  })
}

test('D-22: a failure that locks nothing is counted, and no lock is recorded', async () => {
  const { calls, events } = await countUnder(aPolicy({ updb: { maxAttempts: 0 } }))
  assert.deepEqual(
    calls.map(([, , { maxAttempts }]) => maxAttempts),
    [0],
  )
  assert.deepEqual(events, [])
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
  assert.equal(await hashing.verify(next, new Secret(PASSWORD), ORIGIN.network), true)
})

const KEPT: Readonly<Record<string, readonly [World, password?: string]>> = {
  'a wrong password': [{}, 'wrong horse battery'],
  'a disabled identity': [{ identity: disabled() }],
  'a policy that forbids passwords': [{ policy: forbidding }],
  'a lock': [{ isLocked: true }],
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
  return steps.filter(
    (step) => !['find identity', 'clear failures', 'clear nothing'].includes(step),
  )
}

test('D-215: a hash waits in the line of its network, and those of all known devices of a name in one', async () => {
  // Attack: every right password makes another device known, and with a line each, one account would have most turns.
  const { submit, lines } = factorOn()
  await submit('Zoë')
  await submit('nobody')
  for (const device of ['phone', 'laptop']) await submit('Zoë', PASSWORD, { ...ORIGIN, device })
  const [first, second, phone, laptop] = lines
  assert.deepEqual([first, second], [ORIGIN.network, ORIGIN.network])
  assert.equal(phone, laptop)
  assert.notEqual(phone, ORIGIN.network)
})
