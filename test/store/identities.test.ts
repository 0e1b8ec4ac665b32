/**
 * Identities on every database: what is unique, who is held by whom, and what goes with them.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { AuthPolicyId, IdentityId } from '../../src/base/ids.ts'
import type { Identities } from '../../src/domain/identities/stores.ts'
import type { Store, Stores } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo, SHARED } from './databases.ts'
import {
  aCertAuthenticator,
  after,
  anAuthenticator,
  anEnrollment,
  anIdentity,
  aPolicy,
  aSession,
  hash,
  NOON,
} from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const TIMES = Array.from({ length: 20 }, (_, i) => i)
const identityId = (text: string) => text as IdentityId

const hasOtherAdministrator = async ({ holdAdministrators }: Identities, id: IdentityId) =>
  (await holdAdministrators(id, NOON)).some((held) => held !== id)

/** An identity without optional fields. */
const plain = (name: string, given: Parameters<typeof anIdentity>[0] = {}) =>
  anIdentity({
    id: identityId(`id-of-${name}`),
    name,
    externalId: undefined,
    disabledAt: undefined,
    disabledUntil: undefined,
    ...given,
  })

for (const database of ALL) {
  suite(database.name, () => {
    const openWithIdentity = async (t: TestContext): Promise<Store> => {
      const store = await (await database.create(t)).open()
      await insertIdentity(store)
      return store
    }

    test('an identity comes back as it was stored', async (t) => {
      const { identities } = await openWithIdentity(t)
      assert.deepEqual(await identities.find(anIdentity().id), anIdentity())
      assert.equal(await identities.find(identityId('another')), undefined)
    })

    test('an identity without the optional members comes back without them', async (t) => {
      const { identities } = await openWithIdentity(t)
      const bare = plain('bare', {
        type: 'Default',
        isAdmin: false,
        roleAttributes: [],
        appData: {},
        tags: {},
      })
      await identities.insert(bare)
      assert.deepEqual(await identities.find(bare.id), bare)
    })

    test('an identity is found by its external id, letter by letter', async (t) => {
      const { identities } = await openWithIdentity(t)
      assert.deepEqual(await identities.findByExternalId('zoe@example.org'), anIdentity())
      for (const other of ['Zoe@example.org', 'zoe@example.org ', 'zoe', '', 'zoë@example.org']) {
        assert.equal(await identities.findByExternalId(other), undefined, other)
      }
    })

    test('an id or external id that no database can store finds nothing', async (t) => {
      // Attack: a claim of an external JWT or a name in a certificate holds what makes the database throw.
      const { identities } = await openWithIdentity(t)
      await identities.insert(plain('replaced', { externalId: 'a\ufffdb' }))
      for (const strange of ['zo\u0000e', '\u0000', 'a\ud800b', 'a\udc00b']) {
        assert.equal(await identities.findByExternalId(strange), undefined)
        assert.equal(await identities.find(identityId(strange)), undefined)
        assert.equal(await identities.hold(identityId(strange)), undefined)
      }
    })

    test('two identities have neither the same name nor the same external id', async (t) => {
      const { identities } = await openWithIdentity(t)
      const { name, externalId } = anIdentity()
      const id = identityId('identity-2')
      assert.equal(await identities.insert(plain(name, { id })), 'name-in-use')
      const known = plain('another', { id, externalId })
      assert.equal(await identities.insert(known), 'external-id-in-use')
      assert.equal(await identities.insert(anIdentity({ id })), 'name-in-use')
      assert.equal(await identities.find(id), undefined)

      // Without an external id there may be many.
      assert.equal(await identities.insert(plain('another', { id })), 'inserted')
      assert.equal(await identities.insert(plain('third')), 'inserted')
    })

    test('a refused insert leaves the transaction it was in usable', async (t) => {
      const store = await openWithIdentity(t)
      const answers = await store.transaction(async (tx) => [
        await tx.identities.insert(plain(anIdentity().name)),
        await tx.identities.insert(plain('another')),
      ])
      assert.deepEqual(answers, ['name-in-use', 'inserted'])
      assert.deepEqual(await store.identities.find(plain('another').id), plain('another'))
    })

    test('of twenty identities of one name at once, one is inserted', async (t) => {
      const [one, other] = await openTwo(await database.create(t))
      await one.authPolicies.insert(aPolicy())
      const answers = await Promise.all(
        TIMES.map((i) =>
          (i % 2 ? one : other).identities.insert(plain('ada', { id: identityId(`${i}`) })),
        ),
      )
      assert.deepEqual(answers.sort(), ['inserted', ...Array(19).fill('name-in-use')])
    })

    test('an identity has a policy that exists', async (t) => {
      const { identities } = await (await database.create(t)).open()
      await assert.rejects(identities.insert(anIdentity()), /foreign key/i)
    })

    test('identities are listed by name, a page at a time, with how many there are', async (t) => {
      const { authPolicies, identities } = await (await database.create(t)).open()
      assert.deepEqual(await identities.list({ limit: 5, offset: 0 }), { rows: [], totalCount: 0 })
      await authPolicies.insert(aPolicy())
      for (const name of ['b', 'É', 'a', 'B', 'a b', '10']) await identities.insert(plain(name))
      const names = async (limit: number, offset: number) => {
        const { rows, totalCount } = await identities.list({ limit, offset })
        assert.equal(totalCount, 6)
        return rows.map((identity) => identity.name)
      }
      assert.deepEqual(await names(10, 0), ['10', 'B', 'a', 'a b', 'b', 'É'])
      assert.deepEqual(await names(2, 3), ['a b', 'b'])
      assert.deepEqual(await names(2, 6), [])
      assert.deepEqual(await names(0, 0), [])
    })

    test('identities with a policy are counted', async (t) => {
      const { authPolicies, identities } = await openWithIdentity(t)
      const other = aPolicy({ id: 'policy-2' as AuthPolicyId, name: 'other' })
      await authPolicies.insert(other)
      assert.equal(await identities.countWithPolicy(other.id), 0)
      await identities.insert(plain('a', { authPolicyId: other.id }))
      await identities.insert(plain('b', { authPolicyId: other.id }))
      assert.equal(await identities.countWithPolicy(other.id), 2)
      assert.equal(await identities.countWithPolicy(aPolicy().id), 1)
    })

    test('D-392: routers with hosts are found, disabled or not, and nothing else is', async (t) => {
      const { identities } = await openWithIdentity(t)
      const router = { type: 'Router', hosts: ['gw.example.com', '[::1]:8443'] } as const
      await identities.insert(plain('a', { ...router }))
      await identities.insert(plain('b', { ...router, disabledAt: after(10) }))
      await identities.insert(plain('c', { type: 'Router' }))
      const found = await identities.listRouterPlaces()
      assert.deepEqual(
        found.map(({ hosts, disabledAt }) => [hosts, disabledAt]),
        [
          [router.hosts, undefined],
          [router.hosts, after(10)],
        ],
      )
    })

    test('an identity is disabled, with and without an end, and enabled', async (t) => {
      const { identities } = await openWithIdentity(t)
      const { id } = anIdentity()
      for (const [disablement, disabledAt, disabledUntil] of [
        [{ at: after(10), until: after(20) }, after(10), after(20)],
        [{ at: after(11), until: undefined }, after(11), undefined],
        [undefined, undefined, undefined],
      ] as const) {
        assert.equal(await identities.replaceDisablement(id, disablement, after(30)), true)
        const expected = anIdentity({ disabledAt, disabledUntil, updatedAt: after(30) })
        assert.deepEqual(await identities.find(id), expected)
      }
      const nobody = identityId('another')
      assert.equal(await identities.replaceDisablement(nobody, undefined, NOON), false)
    })

    test('removing an identity takes its authenticators, TOTP and guesses along', async (t) => {
      const store = await openWithIdentity(t)
      const { id } = anIdentity()
      await store.identities.insert(plain('other'))
      const others = anAuthenticator({ id: 'o' as never, identityId: plain('other').id })
      await store.authenticators.insert({ ...others, username: 'other' })
      await store.authenticators.insert(anAuthenticator())
      await store.authenticators.insert(aCertAuthenticator())
      await store.totpEnrollments.replacePending(anEnrollment(), [hash('a')])
      await store.totpEnrollments.markVerified(anEnrollment(), NOON)
      await store.codeGuesses.take(id, NOON, () => undefined)
      await store.apiSessions.insert(aSession())

      assert.equal(await store.identities.remove(id), true)
      assert.equal(await store.identities.remove(id), false)
      assert.equal(await store.identities.find(id), undefined)
      assert.deepEqual(await store.authenticators.listOf(id), [])
      assert.equal(await store.authenticators.findUpdb('zoë'), undefined)
      assert.equal(await store.totpEnrollments.find(id), undefined)
      assert.equal(await store.recoveryCodes.count(id), 0)
      // A session is ended, and that is more than removing its row.
      assert.deepEqual(await store.apiSessions.listOf(id), [aSession()])
      assert.equal((await store.authenticators.listOf(plain('other').id)).length, 1)

      // A new identity of that id begins at nothing.
      await store.identities.insert(anIdentity())
      assert.deepEqual(await store.codeGuesses.take(id, NOON, () => undefined), { guesses: 1 })
    })

    test('holding an identity answers it and changes nothing', async (t) => {
      const store = await openWithIdentity(t)
      const held = await store.transaction((tx) => tx.identities.hold(anIdentity().id))
      assert.deepEqual(held, anIdentity())
      assert.deepEqual(await store.identities.find(anIdentity().id), anIdentity())
      assert.equal(await store.identities.hold(identityId('another')), undefined)
    })

    test('D-226: voiding the logins of an identity increments its number, and changes nothing else', async (t) => {
      const { identities } = await openWithIdentity(t)
      const other = plain('other')
      await identities.insert(other)
      const { id } = anIdentity()
      await identities.voidLogins(id)
      await identities.voidLogins(id)
      await identities.voidLogins(identityId('another'))
      assert.deepEqual(await identities.find(id), anIdentity({ voidedLogins: 2 }))
      assert.deepEqual(await identities.find(other.id), other)
      await identities.replace(anIdentity({ name: 'Renamed', voidedLogins: 0 }))
      assert.equal((await identities.find(id))?.voidedLogins, 2, 'no change of it takes it back')
    })

    test('D-268: a login is recorded, never goes back, and changes nothing else', async (t) => {
      const { identities } = await openWithIdentity(t)
      const other = plain('other')
      await identities.insert(other)
      const { id } = anIdentity()
      await identities.markLogin(id, after(20))
      await identities.markLogin(id, after(10))
      assert.deepEqual(await identities.find(id), anIdentity({ lastLoginAt: after(20) }))
      await identities.markLogin(id, after(30))
      await identities.markLogin(identityId('another'), after(40))
      assert.deepEqual(await identities.find(id), anIdentity({ lastLoginAt: after(30) }))
      assert.deepEqual(await identities.find(other.id), other)
      await identities.replace(anIdentity({ name: 'Renamed', lastLoginAt: undefined }))
      assert.equal((await identities.find(id))?.lastLoginAt, after(30))
    })

    test('D-226: the logins of all identities are voided a few at a time, administrators apart', async (t) => {
      const { identities } = await openWithIdentity(t)
      const others = ['a', 'b', 'c'].map((name) => plain(name, { isAdmin: false }))
      for (const other of others) await identities.insert(other)
      const [, b, c] = others
      const numbers = async () =>
        Promise.all(
          [anIdentity(), ...others].map(
            async ({ id }) => (await identities.find(id))?.voidedLogins,
          ),
        )
      const which = { isAdmin: false, limit: 2 }
      assert.equal(await identities.voidLoginsAfter(undefined, which), b?.id)
      assert.deepEqual(await numbers(), [0, 1, 1, 0])
      assert.equal(await identities.voidLoginsAfter(b?.id, which), c?.id)
      assert.equal(await identities.voidLoginsAfter(c?.id, which), undefined)
      assert.deepEqual(await numbers(), [0, 1, 1, 1])
      const administrators = { isAdmin: true, limit: 1 }
      assert.equal(await identities.voidLoginsAfter(undefined, administrators), anIdentity().id)
      assert.equal(await identities.voidLoginsAfter(anIdentity().id, administrators), undefined)
      assert.deepEqual(await numbers(), [1, 1, 1, 1])
    })

    test('another administrator is one who is not disabled now', async (t) => {
      const { authPolicies, identities } = await (await database.create(t)).open()
      await authPolicies.insert(aPolicy())
      const ada = plain('ada', { isAdmin: true })
      const hasOther = () => hasOtherAdministrator(identities, ada.id)
      await identities.insert(ada)
      await identities.insert(plain('user', { isAdmin: false }))
      await identities.insert(plain('gone', { isAdmin: true, disabledAt: after(-5) }))
      const until = { isAdmin: true, disabledAt: after(-5), disabledUntil: after(1) }
      await identities.insert(plain('away', until))
      assert.equal(await hasOther(), false)

      await identities.insert(plain('back', { ...until, disabledUntil: NOON }))
      assert.equal(await hasOther(), true)
      await identities.remove(plain('back').id)
      assert.equal(await hasOther(), false)

      await identities.insert(plain('grace', { isAdmin: true }))
      assert.equal(await hasOther(), true)
      // Whoever is asked about need not be enabled.
      await identities.replaceDisablement(ada.id, { at: NOON, until: undefined }, NOON)
      assert.equal(await hasOther(), true)
      assert.equal(await hasOtherAdministrator(identities, plain('grace').id), false)
    })

    test('of administrators that remove each other at once, one is left', async (t) => {
      // D-49. Attack: two administrators, or two sessions of one, remove the last two at the same moment.
      const [one, other] = await openTwo(await database.create(t))
      await one.authPolicies.insert(aPolicy())
      const names = ['a', 'b', 'c', 'd', 'e', 'f']
      for (const name of names) await one.identities.insert(plain(name, { isAdmin: true }))
      const removed = await Promise.all(
        names.map((name, i) =>
          (i % 2 ? one : other).transaction(async (tx) => {
            const { id } = plain(name)
            return (await hasOtherAdministrator(tx.identities, id)) && tx.identities.remove(id)
          }),
        ),
      )
      assert.equal(removed.filter(Boolean).length, 5)
      assert.equal((await one.identities.list({ limit: 9, offset: 0 })).totalCount, 1)
    })

    test('of administrators that disable each other at once, one is left', async (t) => {
      const [one, other] = await openTwo(await database.create(t))
      await one.authPolicies.insert(aPolicy())
      for (const name of ['a', 'b']) await one.identities.insert(plain(name, { isAdmin: true }))
      const disable = (store: Store, name: string) =>
        store.transaction(async ({ identities }) => {
          const { id } = plain(name)
          const isOther = await hasOtherAdministrator(identities, id)
          return isOther && identities.replaceDisablement(id, { at: NOON, until: undefined }, NOON)
        })
      const disabled = await Promise.all([disable(one, 'a'), disable(other, 'b')])
      assert.deepEqual(disabled.sort(), [false, true])
    })
  })
}

for (const database of SHARED) {
  suite(`${database.name}, two connections`, () => {
    /** Runs `during` in a transaction that holds the identity, and the call of another connection meanwhile. */
    const whileHeld = async (
      t: TestContext,
      during: (tx: Stores) => Promise<unknown>,
      call: (store: Store) => Promise<unknown>,
    ): Promise<Store> => {
      const [one, other] = await openTwo(await database.create(t))
      await insertIdentity(one)
      const order: string[] = []
      let calling: Promise<unknown> = Promise.resolve()
      await one.transaction(async (tx) => {
        await tx.identities.hold(anIdentity().id)
        calling = call(other).then(() => order.push('call'))
        await during(tx)
        order.push('transaction')
      })
      await calling
      assert.deepEqual(order, ['transaction', 'call'])
      return one
    }
    // Long enough for the call to be under way: its answer would come before these.
    const work = async (tx: Stores) => {
      for (let i = 0; i < 20; i++) await tx.identities.find(anIdentity().id)
    }

    test('an identity that is held is disabled only afterwards', async (t) => {
      const disablement = { at: after(7), until: undefined }
      const store = await whileHeld(t, work, ({ identities }) =>
        identities.replaceDisablement(anIdentity().id, disablement, after(7)),
      )
      assert.equal((await store.identities.find(anIdentity().id))?.disabledAt, after(7))
    })

    test('D-226: the logins of an identity that is held are voided only afterwards', async (t) => {
      const store = await whileHeld(t, work, ({ identities }) =>
        identities.voidLogins(anIdentity().id),
      )
      assert.equal((await store.identities.find(anIdentity().id))?.voidedLogins, 1)
    })

    test('an identity that is held is removed only afterwards', async (t) => {
      const store = await whileHeld(t, work, ({ identities }) => identities.remove(anIdentity().id))
      assert.equal(await store.identities.find(anIdentity().id), undefined)
    })

    test('holding an identity after its removal finds nothing', async (t) => {
      let held: unknown = 'nothing yet'
      await whileHeld(
        t,
        (tx) => tx.identities.remove(anIdentity().id),
        async ({ transaction }) => {
          held = await transaction((tx) => tx.identities.hold(anIdentity().id))
        },
      )
      assert.equal(held, undefined)
    })

    test('two administrators that remove each other do not wait for each other', async (t) => {
      const [one, other] = await openTwo(await database.create(t))
      await one.authPolicies.insert(aPolicy())
      for (const name of ['a', 'b']) await one.identities.insert(plain(name, { isAdmin: true }))
      const [a, b] = [plain('a').id, plain('b').id]
      let second: Promise<boolean> = Promise.resolve(true)
      await one.transaction(async (tx) => {
        assert.equal(await hasOtherAdministrator(tx.identities, a), true)
        second = other.transaction(
          async ({ identities }) =>
            (await hasOtherAdministrator(identities, b)) && identities.remove(b),
        )
        await work(tx)
        await tx.identities.remove(a)
      })
      assert.equal(await second, false)
      assert.equal((await one.identities.find(b))?.name, 'b')
    })
  })
}
