/**
 * Authenticators on every database: what is unique. Their failures are in password-failures.test.ts.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { AuthenticatorId, IdentityId } from '../../src/base/ids.ts'
import { usernameKey } from '../../src/domain/identities/authenticator.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { aCertAuthenticator, after, anAuthenticator, anIdentity } from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

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

    test('a username, fingerprint or id that no database can store finds nothing', async (t) => {
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
  })
}
