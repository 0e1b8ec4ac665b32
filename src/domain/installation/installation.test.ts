/** The first start of an installation: D-48, D-49. On a real database in memory. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import { systemClock } from '../../base/time/clock.ts'
import { openStore } from '../../store/open.ts'
import { auditPorts } from '../audit/ports.ts'
import { createTurns } from '../factors/guessing/turns.ts'
import { createPasswordHashing } from '../factors/passwords/hashing.ts'
import { usernameKey } from '../identities/authenticator.ts'
import { DEFAULT_POLICY_ID, PRODUCTION_POLICY_ID } from '../policies/auth-policy.ts'
import type { Store } from '../stores.ts'
import { ADMINISTRATOR, ForeignDatabase, install, openInstallation } from './installation.ts'

const hashing = createPasswordHashing({
  random: systemRandom,
  turns: createTurns({ purpose: 'password hashing', concurrency: 2, queue: 100 }),
})
const newSecret = () => systemRandom.bytes(INSTALLATION_SECRET_BYTES)

async function emptyStore(t: TestContext): Promise<Store> {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  return store
}

const PORTS = { ...auditPorts({ clock: systemClock, random: systemRandom }), hashing }

function installOn(store: Store, password: string, secret = newSecret()): Promise<boolean> {
  return install({ ...PORTS, transaction: store.transaction }, secret, new Secret(password))
}

const openWith = ({ installation }: Store, secret: Uint8Array) =>
  openInstallation({ installation, secret, random: systemRandom })

async function administratorOf(store: Store) {
  const authenticator = await store.authenticators.findUpdb(usernameKey(ADMINISTRATOR))
  assert.ok(authenticator)
  const identity = await store.identities.find(authenticator.identityId)
  assert.ok(identity)
  return { authenticator, identity }
}

test('an empty database gets its owner, the built-in policies and the administrator', async (t) => {
  const store = await emptyStore(t)
  const secret = newSecret()
  assert.equal(await openWith(store, secret), undefined)
  assert.equal(await installOn(store, 'correct horse battery', secret), true)
  assert.notEqual(await openWith(store, secret), undefined)

  const { authenticator, identity } = await administratorOf(store)
  assert.equal(authenticator.username, 'admin')
  assert.equal(identity.name, 'admin')
  assert.equal(identity.isAdmin, true)
  assert.equal(identity.authPolicyId, DEFAULT_POLICY_ID)
  const policy = await store.authPolicies.find(DEFAULT_POLICY_ID)
  assert.equal(policy?.primary.updb.allowed, true)
  // SPEC Authentication 2: production-oriented policies have no passwords.
  const production = await store.authPolicies.find(PRODUCTION_POLICY_ID)
  assert.equal(production?.primary.updb.allowed, false)
  assert.equal(production.primary.cert.allowed, true)
  assert.equal(production.primary.extJwt.allowed, true)
  const { passwordHash } = authenticator
  assert.equal(
    await hashing.verify(passwordHash, new Secret('correct horse battery'), '192.0.2.1'),
    true,
  )
})

test('a second install changes nothing, the password of the administrator least of all', async (t) => {
  const store = await emptyStore(t)
  const secret = newSecret()
  await installOn(store, 'correct horse battery', secret)
  const before = await administratorOf(store)
  assert.equal(await installOn(store, 'another password', secret), false)
  assert.deepEqual(await administratorOf(store), before)
})

test('D-48: of several installs at the same moment one wins, and all of it is its own', async (t) => {
  const store = await emptyStore(t)
  const secret = newSecret()
  const passwords = ['first password', 'second password', 'third password', 'fourth password']
  const outcomes = await Promise.all(passwords.map((one) => installOn(store, one, secret)))
  assert.equal(outcomes.filter(Boolean).length, 1, String(outcomes))
  const winner = passwords[outcomes.indexOf(true)] ?? ''
  const { authenticator } = await administratorOf(store)
  assert.equal(
    await hashing.verify(authenticator.passwordHash, new Secret(winner), '192.0.2.1'),
    true,
  )
})

test('D-48: a database that was made with another secret is refused', async (t) => {
  const store = await emptyStore(t)
  await installOn(store, 'correct horse battery')
  await assert.rejects(
    openWith(store, newSecret()),
    (error) =>
      error instanceof ForeignDatabase &&
      error.message === 'this database was made with a different installation secret',
  )
})

test('R110: the database knows a fingerprint of the secret, not the secret', async (t) => {
  const store = await emptyStore(t)
  const secret = systemRandom.bytes(INSTALLATION_SECRET_BYTES)
  await installOn(store, 'correct horse battery', secret)
  const fingerprint = (await store.installation.findSecretFingerprint()) ?? ''
  assert.match(fingerprint, /^[\w-]{43}$/)
  for (const encoding of ['base64url', 'base64', 'hex'] as const) {
    assert.ok(!fingerprint.includes(Buffer.from(secret).toString(encoding).slice(0, 20)))
  }
})

test('D-141: hashes are made under a secret of their own, the same at every start', async (t) => {
  const store = await emptyStore(t)
  const secret = newSecret()
  await installOn(store, 'correct horse battery', secret)
  const hashes = await Promise.all(
    [1, 2].map(async () => (await openWith(store, secret))?.vault.hash('refresh-token', 'x')),
  )
  assert.ok(hashes[0])
  assert.equal(hashes[0], hashes[1])

  // Another installation with the same secret has another one: nothing is derived from the secret alone.
  const other = await emptyStore(t)
  await installOn(other, 'correct horse battery', secret)
  assert.notEqual((await openWith(other, secret))?.vault.hash('refresh-token', 'x'), hashes[0])
})

test('a damaged hashing secret is noticed at once, and nothing is opened', async (t) => {
  const store = await emptyStore(t)
  const secret = newSecret()
  await installOn(store, 'correct horse battery', secret)
  const found = await store.installation.find()
  assert.ok(found)
  const { secretFingerprint } = found
  const damaged = { secretFingerprint, sealedHashingSecret: 'damaged' }
  assert.equal(await store.installation.replaceSecret(secretFingerprint, damaged), true)
  await assert.rejects(openWith(store, secret), {
    message: 'the stored hashing secret cannot be opened',
  })
})

test('an install that fails half-way leaves an empty database', async (t) => {
  const store = await emptyStore(t)
  const secret = newSecret()
  const failing = install(
    {
      ...PORTS,
      transaction: store.transaction,
      foldRepeats: () => {
        throw new Error('out of luck')
      },
    },
    secret,
    new Secret('correct horse battery'),
  )
  await assert.rejects(failing, { message: 'out of luck' })
  assert.equal(await openWith(store, secret), undefined)
  assert.equal(await store.authenticators.findUpdb(ADMINISTRATOR), undefined)
})

test('D-330: the password is stored by the instance that installs, and by no other', async (t) => {
  const store = await emptyStore(t)
  const ports = { ...PORTS, transaction: store.transaction }
  const secret = newSecret()
  const stored: string[] = []
  const start = (password: string) =>
    install(ports, secret, new Secret(password), async () => void stored.push(password))
  const outcomes = await Promise.all([start('a long password'), start('another password')])
  assert.deepEqual(outcomes.filter(Boolean), [true])
  assert.equal(stored.length, 1)
  const { authenticator } = await administratorOf(store)
  const password = new Secret(stored[0] ?? '')
  assert.equal(await hashing.verify(authenticator.passwordHash, password, 'test'), true)
})

test('D-330: a password that cannot be stored installs nothing', async (t) => {
  const store = await emptyStore(t)
  const secret = newSecret()
  const ports = { ...PORTS, transaction: store.transaction }
  const failing = install(ports, secret, new Secret('a long password'), async () => {
    throw new Error('the disk is full')
  })
  await assert.rejects(failing, { message: 'the disk is full' })
  assert.equal(await openWith(store, secret), undefined)
})
