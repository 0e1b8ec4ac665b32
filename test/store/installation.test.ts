/**
 * The installation secret in the database, on every database: who may replace it, what is sealed under it, and that
 * nothing sealed under an old one is written past a rotation. D-48, D-141.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import { utf8 } from '../../src/base/encoding.ts'
import type { EnrollmentId, IdentityId, TotpEnrollmentId } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES, type Vault } from '../../src/base/secrets/vault.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { auditPorts } from '../../src/domain/audit/ports.ts'
import { secretFingerprint, secretRecord } from '../../src/domain/installation/installation.ts'
import { keepSealed } from '../../src/domain/installation/keep-sealed.ts'
import { rotateSecret, SecretReplaced } from '../../src/domain/installation/rotate-secret.ts'
import type { SealedValue } from '../../src/domain/installation/stores.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo, SHARED, sqliteOnDisk } from './databases.ts'
import {
  anAuthority,
  anEnrollment,
  anIdentity,
  anInvitation,
  aSigningKey,
  hash,
  NOON,
} from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const TIMES = Array.from({ length: 20 }, (_, i) => i)
/** More than one statement replaces. */
const MANY = Array.from({ length: 450 }, (_, i) => i)

const newSecret = () => systemRandom.bytes(INSTALLATION_SECRET_BYTES)
const AUDIT = auditPorts({ clock: systemClock, random: systemRandom })

function rotate({ transaction }: Store, secrets: { previous: Uint8Array; next: Uint8Array }) {
  return rotateSecret({ ...AUDIT, transaction }, secrets)
}

async function installed(store: Store, secret: Uint8Array): Promise<void> {
  const record = secretRecord(secret, newSecret(), systemRandom)
  assert.equal(await store.installation.insert({ ...record, createdAt: NOON }), true)
}

/** With a JWT to show (D-317). */
const invitationOf = (i: number) =>
  anInvitation(
    { id: `invitation-${i}` as EnrollmentId, tokenHash: hash(`token-${i}`) },
    { method: 'ott' },
  )

async function sealOfEach(store: Store, vault: Vault): Promise<void> {
  await insertIdentity(store)
  const enrollment = anEnrollment()
  const sealedSecret = vault.seal('totp-secret', utf8('totp'), enrollment.id)
  assert.ok(await store.totpEnrollments.replacePending({ ...enrollment, sealedSecret }, []))
  const key = aSigningKey(1)
  const sealedPrivateJwk = vault.seal('signing-key', utf8('jwk'), key.kid)
  assert.ok(await store.signingKeys.insert({ ...key, sealedPrivateJwk }))
  for (const role of ['root', 'issuing'] as const) {
    const sealedKey = vault.seal('authority-key', utf8(role), `${role}/2`)
    assert.ok(await store.authorities.insert({ ...anAuthority(role, 2), sealedKey }))
  }
}

/** What every sealed value says, as this vault reads it. */
function readAll(values: readonly SealedValue[], vault: Vault): readonly string[] {
  return values
    .map(({ purpose, sealed, context }) => vault.open(purpose, sealed, context))
    .map((plain) => (plain === undefined ? 'closed' : Buffer.from(plain).toString()))
    .sort()
}

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()

    test('of twenty concurrent replacements of the secret, one succeeds', async (t) => {
      const [one, other] = await openTwo(await database.create(t))
      const first = { secretFingerprint: hash('first'), sealedHashingSecret: 'sealed' }
      await one.installation.insert({ ...first, createdAt: NOON })
      const replaced = await Promise.all(
        TIMES.map((i) =>
          (i % 2 === 0 ? one : other).installation.replaceSecret(hash('first'), {
            secretFingerprint: hash(`next-${i}`),
            sealedHashingSecret: `sealed-${i}`,
          }),
        ),
      )
      assert.equal(replaced.filter(Boolean).length, 1)
      const winner = replaced.indexOf(true)
      assert.deepEqual(await one.installation.find(), {
        secretFingerprint: hash(`next-${winner}`),
        sealedHashingSecret: `sealed-${winner}`,
      })
    })

    test('a secret is held by its fingerprint, and no other is', async (t) => {
      const { installation } = await open(t)
      assert.equal(await installation.holdSecret(hash('first')), false)
      const record = { secretFingerprint: hash('first'), sealedHashingSecret: 'sealed' }
      await installation.insert({ ...record, createdAt: NOON })
      assert.equal(await installation.holdSecret(hash('first')), true)
      assert.equal(await installation.holdSecret(hash('second')), false)
    })

    test('every sealed value is listed with what opens it, and replaced in its row alone', async (t) => {
      const store = await open(t)
      const vault = createVault(newSecret(), systemRandom)
      await sealOfEach(store, vault)
      const listed = await store.sealedValues.list()
      assert.deepEqual(readAll(listed, vault), ['issuing', 'jwk', 'root', 'totp'])

      const changed = listed.map((one) => ({ ...one, sealed: `new ${one.purpose} ${one.key}` }))
      assert.equal(await store.sealedValues.replace(changed), 4)
      const order = (a: SealedValue, b: SealedValue) => (a.sealed < b.sealed ? -1 : 1)
      const now = await store.sealedValues.list()
      assert.deepEqual([...now].sort(order), [...changed].sort(order))
      const enrollment = await store.totpEnrollments.find(anIdentity().id)
      assert.equal(enrollment?.sealedSecret, `new totp-secret ${anIdentity().id}`)
      assert.equal((await store.signingKeys.list())[0]?.sealedPrivateJwk, 'new signing-key kid-1')
      assert.deepEqual(
        (await store.authorities.list()).map(({ sealedKey }) => sealedKey),
        ['new authority-key root/2', 'new authority-key issuing/2'],
      )
    })

    test('a value whose row is gone is not brought back', async (t) => {
      const store = await open(t)
      await sealOfEach(store, createVault(newSecret(), systemRandom))
      const listed = await store.sealedValues.list()
      assert.equal(await store.totpEnrollments.remove(anIdentity().id), true)
      assert.equal(await store.sealedValues.replace(listed), 3)
      assert.equal(await store.totpEnrollments.find(anIdentity().id), undefined)
      assert.equal(await store.sealedValues.replace([]), 0)
    })

    test('D-141: a rotation seals hundreds of values again, each as its own', async (t) => {
      const store = await open(t)
      const secrets = { previous: newSecret(), next: newSecret() }
      await installed(store, secrets.previous)
      const vault = createVault(secrets.previous, systemRandom)
      await sealOfEach(store, vault)
      await store.transaction(async (tx) => {
        for (const i of MANY) {
          const identityId = `many-${i}` as IdentityId
          const id = `enrollment-${i}` as TotpEnrollmentId
          const identity = { id: identityId, name: `many ${i}`, externalId: undefined }
          await tx.identities.insert(anIdentity(identity))
          const sealedSecret = vault.seal('totp-secret', utf8(identityId), id)
          await tx.totpEnrollments.replacePending(
            { ...anEnrollment(), id, identityId, sealedSecret },
            [],
          )
        }
      })
      assert.equal(await rotate(store, secrets), MANY.length + 4)

      const next = createVault(secrets.next, systemRandom)
      const values = await store.sealedValues.list()
      assert.ok(readAll(values, vault).every((plain) => plain === 'closed'))
      const expected = ['issuing', 'jwk', 'root', 'totp', ...MANY.map((i) => `many-${i}`)]
      assert.deepEqual(readAll(values, next), expected.sort())
      for (const { purpose, key, sealed, context } of values) {
        if (purpose !== 'totp-secret' || key === anIdentity().id) continue
        assert.deepEqual(next.open(purpose, sealed, context), utf8(key))
      }
      const { rows } = await store.events.list({ limit: 10, offset: 0 })
      assert.deepEqual(
        rows.map(({ type, details }) => ({ type, details })),
        [{ type: 'secret.rotated', details: { sealedAgain: MANY.length + 4 } }],
      )
    })

    test('a rotation that meets a value which it cannot open changes nothing at all', async (t) => {
      const store = await open(t)
      const secrets = { previous: newSecret(), next: newSecret() }
      await installed(store, secrets.previous)
      const vault = createVault(secrets.previous, systemRandom)
      await sealOfEach(store, vault)
      await store.signingKeys.insert({ ...aSigningKey(2), sealedPrivateJwk: 'damaged' })
      const before = { row: await store.installation.find(), all: await store.sealedValues.list() }
      await assert.rejects(rotate(store, secrets), {
        message: 'a stored signing-key cannot be opened: kid-2',
      })
      const after = { row: await store.installation.find(), all: await store.sealedValues.list() }
      assert.deepEqual(after, before)
      assert.equal((await store.events.list({ limit: 1, offset: 0 })).totalCount, 0)
    })
  })
}

for (const kind of SHARED) {
  suite(`${kind.name}, shared`, () => {
    test('of several rotations at once one is made, and the others change nothing', async (t) => {
      const database = await kind.create(t)
      const stores = [await database.open(), await database.open()] as const
      const previous = newSecret()
      await installed(stores[0], previous)
      await sealOfEach(stores[0], createVault(previous, systemRandom))
      const secrets = TIMES.slice(0, 6).map(() => newSecret())
      const outcomes = await Promise.allSettled(
        secrets.map((next, i) => rotate(stores[i % 2] as Store, { previous, next })),
      )
      const winners = secrets.filter((_, i) => outcomes[i]?.status === 'fulfilled')
      assert.equal(winners.length, 1)
      for (const one of outcomes) {
        if (one.status === 'rejected') assert.ok(one.reason instanceof SecretReplaced, one.reason)
      }
      const winner = winners[0] ?? previous
      const values = await stores[0].sealedValues.list()
      const vault = createVault(winner, systemRandom)
      assert.deepEqual(readAll(values, vault), ['issuing', 'jwk', 'root', 'totp'])
      const found = await stores[0].installation.findSecretFingerprint()
      assert.equal(found, secretFingerprint(winner, systemRandom))
    })

    test('R110, D-141: what an instance with the old secret writes during a rotation is sealed again, or is refused', async (t) => {
      // No attack, but a loss: a TOTP secret, a signing key or a CA key that nobody can ever open again. The writers
      // go on as an instance does that has not noticed the rotation yet.
      const database = await kind.create(t)
      const [one, other] = [await database.open(), await database.open()]
      const secrets = { previous: newSecret(), next: newSecret() }
      await installed(one, secrets.previous)
      await insertIdentity(one)
      const old = createVault(secrets.previous, systemRandom)
      const store = keepSealed(other, secretFingerprint(secrets.previous, systemRandom))

      let written = 0
      let isReplaced = false
      const write = async (generation: number): Promise<void> => {
        const key = aSigningKey(generation)
        const sealedPrivateJwk = old.seal('signing-key', utf8(key.kid), key.kid)
        const id = `enrollment-${generation}` as TotpEnrollmentId
        const sealedSecret = old.seal('totp-secret', utf8(id), id)
        const sealedKey = old.seal('authority-key', utf8('issuing'), `issuing/${generation}`)
        await store.transaction((tx) => tx.signingKeys.insert({ ...key, sealedPrivateJwk }))
        await store.totpEnrollments.replacePending({ ...anEnrollment(), id, sealedSecret }, [])
        await store.authorities.insert({ ...anAuthority('issuing', generation), sealedKey })
        await store.transaction(async (tx) => {
          const invitation = invitationOf(generation)
          const [before] = await tx.enrollments.listOf(invitation.identityId)
          if (before !== undefined && generation % 2 === 0) {
            const sealedJwt = old.seal('enrollment-jwt', utf8('jwt'), before.id)
            await tx.enrollments.replaceToken(before.id, { ...before, sealedJwt }, NOON)
            return
          }
          if (before !== undefined) await tx.enrollments.remove(before.id)
          const sealedJwt = old.seal('enrollment-jwt', utf8('jwt'), invitation.id)
          await tx.enrollments.insert({ ...invitation, sealedJwt })
        })
        written = generation
      }
      const writing = (async () => {
        for (let generation = 1; generation < 10_000; generation++) {
          await write(generation)
          // Nobody writes without a pause; on SQLite whoever waits needs one to get his turn.
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
      })().catch((error) => {
        assert.ok(error instanceof SecretReplaced, String(error))
        isReplaced = true
      })
      while (written < 5 && !isReplaced) await new Promise((resolve) => setTimeout(resolve, 1))
      await rotate(one, secrets)
      await writing
      assert.equal(isReplaced, true)

      const values = await one.sealedValues.list()
      assert.ok(values.length >= 2 * 5 + 1, String(values.length))
      const next = createVault(secrets.next, systemRandom)
      assert.ok(!readAll(values, next).includes('closed'))

      const keys = (await one.signingKeys.list()).length
      const late = { ...aSigningKey(10_000), sealedPrivateJwk: 'late' }
      await assert.rejects(store.signingKeys.insert(late), SecretReplaced)
      await assert.rejects(
        store.transaction((tx) => tx.authorities.insert(anAuthority('root', 99))),
        SecretReplaced,
      )
      await assert.rejects(store.totpEnrollments.replacePending(anEnrollment(), []), SecretReplaced)
      const [invitation] = await one.enrollments.listOf(anIdentity().id)
      assert.ok(invitation)
      await assert.rejects(
        store.enrollments.replaceToken(invitation.id, { ...invitation, sealedJwt: 'late' }, NOON),
        SecretReplaced,
      )
      const another = invitationOf(10_000)
      await assert.rejects(store.enrollments.insert(another), SecretReplaced)
      await assert.rejects(
        store.transaction((tx) => tx.enrollments.insert(another)),
        SecretReplaced,
      )
      // What has nothing sealed does not depend on the secret.
      const plain = { ...invitation, sealedJwt: undefined }
      assert.equal(await store.enrollments.replaceToken(invitation.id, plain, NOON), true)
      assert.equal((await one.signingKeys.list()).length, keys)
    })
  })
}

test('every column with something sealed is one that a rotation knows', async (t) => {
  // One that it does not know would be lost with the old secret.
  const database = await sqliteOnDisk.create(t)
  const columns = await database.query(`
    select tables.name || '.' || columns.name as name
    from sqlite_master as tables, pragma_table_info(tables.name) as columns
    where tables.type = 'table' and columns.name like 'sealed%' order by 1
  `)
  assert.deepEqual(
    columns.map(({ name }) => name),
    [
      'authorities.sealed_key',
      'enrollments.sealed_jwt',
      'installation.sealed_hashing_secret',
      'signing_keys.sealed_private_jwk',
      'totp_enrollments.sealed_secret',
    ],
  )
})
