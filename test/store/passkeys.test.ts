/** Passkeys on every database: D-430, D-435, D-437. What must happen once happens once, also through two connections. */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { AuthenticatorId, IdentityId } from '../../src/base/ids.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo, SHARED } from './databases.ts'
import { aPasskey } from './passkey-sample.ts'
import { after, anEnrollment, anIdentity, hash, NOON } from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const TIMES = Array.from({ length: 20 }, (_, i) => i)
const me = anIdentity().id
const other = anIdentity({ id: 'identity-2' as IdentityId, name: 'other', externalId: undefined })
const CODE = hash('recovery')

const id = (text: string) => text as AuthenticatorId
const SECOND = aPasskey({ id: id('passkey-2'), credentialId: 'credential-2', createdAt: after(1) })

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<readonly [Store, Store]> => {
      const stores = await openTwo(await database.create(t))
      await insertIdentity(stores[0])
      await stores[0].identities.insert(other)
      assert.equal(await stores[0].passkeys.insert(aPasskey()), true)
      return stores
    }

    test('a passkey is found by its id, its credential id and its owner', async (t) => {
      const [{ passkeys }] = await open(t)
      assert.equal(await passkeys.insert(SECOND), true)
      assert.deepEqual(await passkeys.find(aPasskey().id), aPasskey())
      assert.deepEqual(await passkeys.findByCredential('credential-2'), SECOND)
      assert.equal(await passkeys.findByCredential('CREDENTIAL-2'), undefined)
      assert.deepEqual(await passkeys.listOf(me), [aPasskey(), SECOND])
      assert.deepEqual(await passkeys.listOf(other.id), [])
      assert.deepEqual(await passkeys.listEnrolled([me]), new Set([me]))
      assert.deepEqual(await passkeys.listEnrolled([other.id]), new Set())
      assert.deepEqual(await passkeys.listEnrolled([me, other.id]), new Set([me]))
      assert.deepEqual(await passkeys.listEnrolled([]), new Set())
    })

    test('an identity has a second factor as soon as it has a passkey', async (t) => {
      const [{ identities }] = await open(t)
      const found = await identities.findWithFactors(me)
      assert.deepEqual(found, { identity: await identities.find(me), isMfaEnabled: true })
      assert.equal((await identities.findWithFactors(other.id))?.isMfaEnabled, false)
    })

    test('of twenty registrations of one credential at once, one is stored', async (t) => {
      const stores = await open(t)
      const inserted = await Promise.all(
        TIMES.map((i) =>
          stores[i % 2 ? 0 : 1].passkeys.insert(
            aPasskey({ id: id(`new-${i}`), credentialId: 'same', identityId: other.id }),
          ),
        ),
      )
      assert.equal(inserted.filter(Boolean).length, 1)
      assert.equal(await stores[0].passkeys.insert(aPasskey({ id: id('again') })), false)
    })

    test('a counter only grows, and zero stays zero', async (t) => {
      const [{ passkeys }] = await open(t)
      const use = (signCount: number) =>
        passkeys.markUsed(aPasskey().id, { signCount, isBackedUp: true, at: after(3) })
      for (const [count, isAccepted] of [
        [7, false],
        [6, false],
        [0, false],
        [8, true],
        [8, false],
        [4_294_967_295, true],
      ] as const) {
        assert.equal(await use(count), isAccepted, String(count))
      }
      assert.deepEqual(
        await passkeys.find(aPasskey().id),
        aPasskey({ signCount: 4_294_967_295, isBackedUp: true, lastUsedAt: after(3) }),
      )
      await passkeys.insert({ ...SECOND, signCount: 0 })
      const uncounted = { signCount: 0, isBackedUp: false, at: NOON }
      assert.equal(await passkeys.markUsed(SECOND.id, uncounted), true)
      assert.equal(await passkeys.markUsed(SECOND.id, uncounted), true)
      assert.equal(await passkeys.markUsed(id('nobody'), uncounted), false)
    })

    test('of twenty uses of one counter at once, one wins', async (t) => {
      const stores = await open(t)
      const use = { signCount: 9, isBackedUp: false, at: NOON }
      const used = await Promise.all(
        TIMES.map((i) => stores[i % 2 ? 0 : 1].passkeys.markUsed(aPasskey().id, use)),
      )
      assert.equal(used.filter(Boolean).length, 1)
    })

    test('only its owner renames and removes a passkey', async (t) => {
      const [{ passkeys }] = await open(t)
      assert.equal(await passkeys.rename(other.id, aPasskey().id, 'mine'), false)
      assert.equal(await passkeys.rename(me, aPasskey().id, 'new name'), true)
      assert.equal((await passkeys.find(aPasskey().id))?.name, 'new name')
      assert.equal(await passkeys.remove(other.id, aPasskey().id), false)
      assert.equal(await passkeys.remove(me, aPasskey().id), true)
      assert.equal(await passkeys.remove(me, aPasskey().id), false)
    })

    test('recovery codes work with a passkey, and go with the last factor', async (t) => {
      const [{ passkeys, recoveryCodes, totpEnrollments }] = await open(t)
      await recoveryCodes.replace(me, [CODE, hash('second')])
      assert.equal(await recoveryCodes.take(me, CODE), true)
      await totpEnrollments.replacePending(anEnrollment(), [])
      await totpEnrollments.markVerified(anEnrollment(), NOON)
      assert.equal(await totpEnrollments.remove(me), true)
      assert.equal(await recoveryCodes.count(me), 1, 'the passkey is left')
      assert.deepEqual(await passkeys.removeAll(me), [aPasskey().id])
      assert.equal(await recoveryCodes.count(me), 0)
    })

    test('the codes of a pending authenticator app are not good beside a passkey', async (t) => {
      // Attack: with the password alone, an enrollment is begun; its codes must not become those of the owner's passkey.
      const [{ recoveryCodes, totpEnrollments }] = await open(t)
      await totpEnrollments.replacePending(anEnrollment(), [CODE])
      assert.equal(await recoveryCodes.take(me, CODE), false)
      assert.equal(await recoveryCodes.count(me), 0)
    })

    test('a pending authenticator app keeps no recovery codes alive', async (t) => {
      // Attack (D-437): an app is set up after the last passkey was removed, and an old code works again.
      for (const remove of [
        ({ passkeys }: Store) => passkeys.remove(me, aPasskey().id),
        ({ passkeys }: Store) => passkeys.removeAll(me),
      ]) {
        const [store] = await open(t)
        const { recoveryCodes, totpEnrollments } = store
        await recoveryCodes.replace(me, [CODE])
        await totpEnrollments.replacePending(anEnrollment(), [hash('new')])
        await remove(store)
        assert.equal(await recoveryCodes.count(me), 0)
        assert.equal(await totpEnrollments.markVerified(anEnrollment(), NOON), true)
        assert.equal(await recoveryCodes.take(me, CODE), false)
        assert.equal(await recoveryCodes.take(me, hash('new')), true, 'its own codes are good')
      }
    })

    test('an authenticator app that brings codes replaces the ones that are there', async (t) => {
      const [{ recoveryCodes, totpEnrollments }] = await open(t)
      await recoveryCodes.replace(me, [CODE])
      await totpEnrollments.replacePending(anEnrollment(), [hash('new')])
      assert.equal(await recoveryCodes.take(me, hash('new')), false, 'not good yet')
      assert.equal(await totpEnrollments.markVerified(anEnrollment(), NOON), true)
      assert.equal(await recoveryCodes.count(me), 1)
      assert.equal(await recoveryCodes.take(me, CODE), false)
      assert.equal(await recoveryCodes.take(me, hash('new')), true)
    })

    test('an authenticator app that brings no codes ends with the last passkey', async (t) => {
      // Otherwise it would become the first factor of an identity without recovery codes.
      const [{ passkeys, recoveryCodes, totpEnrollments }] = await open(t)
      await passkeys.insert(SECOND)
      await recoveryCodes.replace(me, [CODE])
      await totpEnrollments.replacePending(anEnrollment(), [])
      await passkeys.remove(me, aPasskey().id)
      assert.notEqual(await totpEnrollments.find(me), undefined, 'a passkey is left')
      await passkeys.remove(me, SECOND.id)
      assert.equal(await totpEnrollments.find(me), undefined)
      assert.equal(await recoveryCodes.count(me), 0)
    })

    test('a deleted identity takes its passkeys with it', async (t) => {
      const [store] = await open(t)
      assert.equal(await store.identities.remove(me), true)
      assert.equal(await store.passkeys.find(aPasskey().id), undefined)
    })
  })
}

for (const database of SHARED) {
  test(`${database.name}: an app that becomes the only factor has no codes of an earlier one`, async (t) => {
    // Earlier versions kept the codes of the last passkey while an app was pending.
    const created = await database.create(t)
    const store = await created.open()
    await insertIdentity(store)
    const { passkeys, recoveryCodes, totpEnrollments } = store
    await passkeys.insert(aPasskey())
    await recoveryCodes.replace(me, [CODE])
    await totpEnrollments.replacePending(anEnrollment(), [])
    await created.query('delete from passkeys')
    assert.equal(await totpEnrollments.markVerified(anEnrollment(), NOON), true)
    assert.equal(await recoveryCodes.take(me, CODE), false)
    assert.equal(await recoveryCodes.count(me), 0)
  })
}
