/**
 * Authenticators on every database: what is unique, and the count of failures that locks a password (D-22).
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { AuthenticatorId, IdentityId } from '../../src/base/ids.ts'
import { usernameKey } from '../../src/domain/identities/authenticator.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { aCertAuthenticator, after, anAuthenticator, anIdentity, NOON } from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const HUNDRED = Array.from({ length: 100 }, (_, i) => i)
const OTHER = anIdentity({ id: 'identity-2' as IdentityId, name: 'other', externalId: undefined })
const authenticatorId = (text: string) => text as AuthenticatorId
const { id } = anAuthenticator()

for (const database of ALL) {
  suite(database.name, () => {
    const openFilled = async (t: TestContext): Promise<readonly [Store, Store]> => {
      const stores = await openTwo(await database.create(t))
      await insertIdentity(stores[0])
      await stores[0].identities.insert(OTHER)
      await stores[0].authenticators.insert(anAuthenticator())
      return stores
    }
    const open = async (t: TestContext) => (await openFilled(t))[0]

    test('a password is found by its id and by every spelling of its username', async (t) => {
      const { authenticators } = await open(t)
      assert.deepEqual(await authenticators.find(id), anAuthenticator())
      for (const spelling of ['Zoë', 'ZOË', 'zoe\u0308', 'ｚｏë']) {
        const found = await authenticators.findUpdb(usernameKey(spelling))
        assert.deepEqual(found, anAuthenticator(), spelling)
      }
      assert.equal(await authenticators.find(authenticatorId('another')), undefined)
      assert.equal(await authenticators.findUpdb('zoe'), undefined)
    })

    test('a certificate is found by its id and by its fingerprint', async (t) => {
      const { authenticators } = await open(t)
      const foreign = aCertAuthenticator({
        id: authenticatorId('authenticator-8'),
        identityId: OTHER.id,
        fingerprint: 'cd'.repeat(32),
        isIssuedByNetwork: false,
        tags: {},
      })
      for (const authenticator of [aCertAuthenticator(), foreign]) {
        assert.equal(await authenticators.insert(authenticator), 'inserted')
        assert.deepEqual(await authenticators.find(authenticator.id), authenticator)
        assert.deepEqual(await authenticators.findCert(authenticator.fingerprint), authenticator)
      }
      assert.equal(await authenticators.findCert('AB'.repeat(32)), undefined)
    })

    test('a username, fingerprint or id that no database can hold is nobody', async (t) => {
      const { authenticators } = await open(t)
      const replaced = { id: authenticatorId('a2'), identityId: OTHER.id, username: 'zo\ufffdë' }
      await authenticators.insert(anAuthenticator(replaced))
      for (const strange of ['zo\u0000ë', '\u0000', 'zo\ud800ë']) {
        assert.equal(await authenticators.findUpdb(strange), undefined)
        assert.equal(await authenticators.findCert(strange), undefined)
        assert.equal(await authenticators.find(authenticatorId(strange)), undefined)
      }
    })

    test('two authenticators have no usernames that differ only in spelling', async (t) => {
      const { authenticators } = await open(t)
      const twin = { id: authenticatorId('a2'), identityId: OTHER.id, username: 'ZOË' }
      assert.equal(await authenticators.insert(anAuthenticator(twin)), 'username-in-use')
      assert.deepEqual(await authenticators.listOf(OTHER.id), [])
    })

    test('two authenticators do not have the same certificate', async (t) => {
      const { authenticators } = await open(t)
      await authenticators.insert(aCertAuthenticator())
      const twin = aCertAuthenticator({ id: authenticatorId('a2'), identityId: OTHER.id })
      assert.equal(await authenticators.insert(twin), 'certificate-in-use')
      assert.deepEqual(await authenticators.listOf(OTHER.id), [])
    })

    test('an identity has one password and one certificate', async (t) => {
      const { authenticators } = await open(t)
      const second = anAuthenticator({ id: authenticatorId('a2'), username: 'zoe2' })
      assert.equal(await authenticators.insert(second), 'method-in-use')
      assert.equal(await authenticators.insert(aCertAuthenticator()), 'inserted')
      const renewed = aCertAuthenticator({ id: authenticatorId('a3'), fingerprint: 'ef' })
      assert.equal(await authenticators.insert(renewed), 'method-in-use')
      const both = [anAuthenticator(), aCertAuthenticator()]
      assert.deepEqual(await authenticators.listOf(anIdentity().id), both)
    })

    test('an authenticator belongs to an identity that exists', async (t) => {
      const { authenticators } = await open(t)
      const stray = { id: authenticatorId('a2'), identityId: 'another' as IdentityId }
      const inserting = authenticators.insert(anAuthenticator({ ...stray, username: 'stray' }))
      await assert.rejects(inserting, /foreign key/i)
    })

    test('authenticators are listed oldest first, a page at a time', async (t) => {
      const { authenticators } = await open(t)
      const oldest = anAuthenticator({
        id: authenticatorId('authenticator-2'),
        identityId: OTHER.id,
        username: 'other',
        createdAt: after(-1),
      })
      for (const one of [aCertAuthenticator(), oldest]) await authenticators.insert(one)
      const all = [oldest, anAuthenticator(), aCertAuthenticator()]
      const page = (limit: number, offset: number) => authenticators.list({ limit, offset })
      assert.deepEqual(await page(5, 0), { rows: all, totalCount: 3 })
      assert.deepEqual(await page(1, 1), { rows: all.slice(1, 2), totalCount: 3 })
      assert.deepEqual(await page(1, 3), { rows: [], totalCount: 3 })
    })

    test('an authenticator is removed once', async (t) => {
      const { authenticators } = await open(t)
      assert.equal(await authenticators.remove(id), true)
      assert.equal(await authenticators.remove(id), false)
      assert.equal(await authenticators.find(id), undefined)
    })

    test('a password hash is replaced only while it is the previous one', async (t) => {
      const { authenticators } = await open(t)
      const { passwordHash } = anAuthenticator()
      const replace = authenticators.replacePasswordHash
      assert.equal(await replace(id, passwordHash, 'b', after(9)), true)
      assert.equal(await replace(id, passwordHash, 'c', after(10)), false)
      const expected = anAuthenticator({ passwordHash: 'b', updatedAt: after(9) })
      assert.deepEqual(await authenticators.find(id), expected)
    })

    const lock = { maxAttempts: 3, lockUntil: after(100) }

    test('the last of so many failures in a row locks, and no other', async (t) => {
      const { authenticators } = await open(t)
      const answers = []
      for (let i = 0; i < 5; i++) answers.push(await authenticators.addFailure(id, lock, NOON))
      assert.deepEqual(
        answers.map((answer) => answer.isLockedNow),
        [false, false, true, false, false],
      )
      // Failures while it is locked neither count nor make the lock longer.
      await authenticators.addFailure(id, { ...lock, lockUntil: after(900) }, after(99))
      assert.deepEqual(await authenticators.find(id), anAuthenticator({ lockedUntil: after(100) }))
    })

    test('a right password in between begins the count anew', async (t) => {
      const { authenticators } = await open(t)
      for (const expected of [false, false]) {
        const { isLockedNow } = await authenticators.addFailure(id, lock, NOON)
        assert.equal(isLockedNow, expected)
      }
      assert.equal(await authenticators.clearFailures(id, NOON), true)
      for (const expected of [false, false, true]) {
        const { isLockedNow } = await authenticators.addFailure(id, lock, NOON)
        assert.equal(isLockedNow, expected)
      }
    })

    test('a right password does not open a lock, until the lock has run out', async (t) => {
      // Attack: the right guess among many at once arrives just after the lock.
      const { authenticators } = await open(t)
      await authenticators.addFailure(id, { ...lock, maxAttempts: 1 }, NOON)
      for (const now of [NOON, after(99)]) {
        assert.equal(await authenticators.clearFailures(id, now), false)
        assert.equal((await authenticators.findUpdb('zoë'))?.lockedUntil, after(100))
      }
      assert.equal(await authenticators.clearFailures(id, after(100)), true)
      assert.deepEqual(await authenticators.find(id), anAuthenticator())
      assert.equal(await authenticators.clearFailures(authenticatorId('another'), NOON), false)
    })

    test('after a lock has run out the count begins anew', async (t) => {
      const { authenticators } = await open(t)
      for (let i = 0; i < 3; i++) await authenticators.addFailure(id, lock, NOON)
      const again = { maxAttempts: 3, lockUntil: after(300) }
      for (const expected of [false, false, true]) {
        const { isLockedNow } = await authenticators.addFailure(id, again, after(100))
        assert.equal(isLockedNow, expected)
      }
      assert.equal((await authenticators.findUpdb('zoë'))?.lockedUntil, after(300))
    })

    test('a policy of no attempts never locks', async (t) => {
      const { authenticators } = await open(t)
      for (let i = 0; i < 20; i++) {
        const never = { maxAttempts: 0, lockUntil: after(100) }
        assert.deepEqual(await authenticators.addFailure(id, never, NOON), { isLockedNow: false })
      }
      assert.deepEqual(await authenticators.find(id), anAuthenticator())
      // The failures were counted all the same.
      assert.deepEqual(await authenticators.addFailure(id, lock, NOON), { isLockedNow: true })
    })

    test('an administrator unlocks, and the count begins anew', async (t) => {
      const { authenticators } = await open(t)
      for (let i = 0; i < 3; i++) await authenticators.addFailure(id, lock, NOON)
      assert.equal(await authenticators.unlock(id), true)
      assert.deepEqual(await authenticators.find(id), anAuthenticator())
      assert.deepEqual(await authenticators.addFailure(id, lock, NOON), { isLockedNow: false })
      assert.equal(await authenticators.unlock(authenticatorId('another')), false)
    })

    test('a failure of an authenticator that is gone locks nothing', async (t) => {
      const { authenticators } = await open(t)
      const answer = await authenticators.addFailure(authenticatorId('another'), lock, NOON)
      assert.deepEqual(answer, { isLockedNow: false })
    })

    test('a hundred failures at once count as a hundred (D-22)', async (t) => {
      // Attack: many guesses at the same moment, so that each finds the count of before.
      const stores = await openFilled(t)
      const fail = (maxAttempts: number) =>
        Promise.all(
          HUNDRED.map((i) =>
            stores[i % 2 ? 0 : 1].authenticators.addFailure(id, { ...lock, maxAttempts }, NOON),
          ),
        )
      const first = await fail(101)
      assert.equal(first.filter((answer) => answer.isLockedNow).length, 0)
      const { isLockedNow } = await stores[0].authenticators.addFailure(
        id,
        { ...lock, maxAttempts: 101 },
        NOON,
      )
      assert.equal(isLockedNow, true)

      await stores[0].authenticators.unlock(id)
      const second = await fail(10)
      assert.equal(second.filter((answer) => answer.isLockedNow).length, 1)
    })
  })
}
