/**
 * Enrollments on every database: taken once, one open of each method for an identity, kept for a while when used. API
 * 4.3.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { CaId, EnrollmentId, IdentityId } from '../../src/base/ids.ts'
import type { Instant } from '../../src/base/time/instant.ts'
import type { EnrollmentKind } from '../../src/domain/enrollments/enrollment.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import {
  aCertAuthenticator,
  after,
  anIdentity,
  anInvitation,
  aPolicy,
  hash,
  NOON,
} from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const FIFTY = Array.from({ length: 50 }, (_, i) => i)
const id = (text: string) => text as EnrollmentId
const { tokenHash: TOKEN, expiresAt: END } = anInvitation()
const LAST = (END - 1) as Instant

const OTT: EnrollmentKind = { method: 'ott' }
const UPDB: EnrollmentKind = { method: 'updb', username: 'Zoë' }
const OTTCA: EnrollmentKind = { method: 'ottca', caId: 'ca-1' as CaId }
const another = (name: string, given: Parameters<typeof anInvitation>[0] = {}) => ({
  id: id(`invitation-of-${name}`),
  tokenHash: hash(`token-of-${name}`),
  ...given,
})

for (const database of ALL) {
  suite(database.name, () => {
    const openWithIdentity = async (t: TestContext): Promise<Store> => {
      const store = await (await database.create(t)).open()
      await insertIdentity(store)
      return store
    }

    const insertSecond = async (store: Store): Promise<IdentityId> => {
      const second = anIdentity({
        id: 'identity-2' as IdentityId,
        name: 'second',
        externalId: undefined,
      })
      assert.equal(await store.identities.insert(second), 'inserted')
      return second.id
    }

    test('an enrollment of each method comes back as it was stored', async (t) => {
      const { enrollments } = await openWithIdentity(t)
      const all = [
        anInvitation({}, UPDB),
        anInvitation(another('ott', { createdAt: after(1) }), OTT),
        anInvitation(another('ottca', { createdAt: after(2), usedAt: after(5), tags: {} }), OTTCA),
        anInvitation(another('password', { createdAt: after(3) }), { method: 'reset-password' }),
        anInvitation(another('mfa', { createdAt: after(4) }), { method: 'reset-mfa' }),
      ]
      for (const one of all) {
        assert.equal(await enrollments.insert(one), 'inserted')
        assert.deepEqual(await enrollments.find(one.id), one)
      }
      assert.deepEqual(await enrollments.listOf(anIdentity().id), all)
      assert.deepEqual(await enrollments.listOf('another' as IdentityId), [])
      const page = await enrollments.list({ limit: 2, offset: 1 })
      assert.deepEqual(page, { rows: all.slice(1, 3), totalCount: 5 })
      for (const strange of ['another', 'a\u0000', 'a\ud800']) {
        assert.equal(await enrollments.find(id(strange)), undefined)
      }
    })

    test('a list is filtered by what is used, by username and by CA', async (t) => {
      const { enrollments } = await openWithIdentity(t)
      await enrollments.insert(anInvitation({}, UPDB))
      await enrollments.insert(anInvitation(another('used', { usedAt: NOON }), OTTCA))
      const found = async (name: string, filter: object) => {
        const field = { kind: 'field', name } as const
        const query = { limit: 9, offset: 0, filter: { ...filter, field } as never }
        return (await enrollments.list(query)).rows.map((row) => row.id)
      }
      const is = (value: string) => ({ op: 'compare', comparator: '=', value })
      assert.deepEqual(await found('usedAt', { op: 'null' }), ['invitation-1'])
      assert.deepEqual(await found('username', is('Zoë')), ['invitation-1'])
      assert.deepEqual(await found('caId', is('ca-1')), ['invitation-of-used'])
    })

    test('an identity has one unused enrollment of each method, and any number of used ones', async (t) => {
      const { enrollments } = await openWithIdentity(t)
      await enrollments.insert(anInvitation({ usedAt: NOON }, OTT))
      await enrollments.insert(anInvitation(another('used', { usedAt: NOON }), OTT))
      assert.equal(await enrollments.insert(anInvitation(another('open'), OTT)), 'inserted')
      assert.equal(await enrollments.insert(anInvitation(another('ca'), OTTCA)), 'inserted')
      const second = anInvitation(another('second'), OTT)
      assert.equal(await enrollments.insert(second), 'method-open')
      assert.equal(await enrollments.find(second.id), undefined)
    })

    test('the unused enrollment of a method is removed, and no other', async (t) => {
      const { enrollments } = await openWithIdentity(t)
      const reset: EnrollmentKind = { method: 'reset-password' }
      await enrollments.insert(anInvitation({ usedAt: NOON }, reset))
      await enrollments.insert(anInvitation(another('open'), reset))
      await enrollments.insert(anInvitation(another('mfa'), { method: 'reset-mfa' }))
      const { id: owner } = anIdentity()
      const removed = await enrollments.removeUnused(owner, 'reset-password')
      assert.deepEqual(removed, ['invitation-of-open'])
      assert.deepEqual(await enrollments.removeUnused(owner, 'reset-password'), [])
      assert.equal((await enrollments.listOf(owner)).length, 2)
    })

    test('a username belongs to one unused enrollment, however it is written', async (t) => {
      const store = await openWithIdentity(t)
      const { enrollments } = store
      const identityId = await insertSecond(store)
      await enrollments.insert(anInvitation({}, UPDB))
      const twin = anInvitation(another('twin', { identityId }), {
        method: 'updb',
        username: 'ZOE\u0308',
      })
      assert.equal(await enrollments.insert(twin), 'username-in-use')
      await enrollments.take(TOKEN, 'updb', NOON)
      assert.equal(await enrollments.insert(twin), 'inserted')
    })

    test('two enrollments do not have the same token', async (t) => {
      const { enrollments } = await openWithIdentity(t)
      await enrollments.insert(anInvitation({}, OTT))
      const twin = anInvitation({ id: id('twin') }, OTTCA)
      await assert.rejects(enrollments.insert(twin), /already/)
    })

    test('what has expired unused makes way, and nothing else does', async (t) => {
      const store = await openWithIdentity(t)
      const { enrollments } = store
      const second = await insertSecond(store)
      const expired = anInvitation({ expiresAt: NOON }, UPDB)
      const used = anInvitation(another('used', { expiresAt: NOON, usedAt: NOON }), UPDB)
      const other = anInvitation(another('ott', { expiresAt: NOON }), OTT)
      const open = anInvitation(another('open', { identityId: second }), {
        method: 'updb',
        username: 'b',
      })
      for (const one of [expired, used, other, open]) await enrollments.insert(one)

      const wanted = anInvitation(another('new', { identityId: second }), UPDB)
      assert.deepEqual(await enrollments.removeExpiredLike(wanted, (NOON - 1) as Instant), [])
      assert.deepEqual(await enrollments.removeExpiredLike(wanted, NOON), [
        { id: expired.id, identityId: expired.identityId },
      ])
      const left = (await enrollments.list({ limit: 9, offset: 0 })).rows.map((row) => row.id)
      assert.deepEqual(left.sort(), [used.id, other.id, open.id].sort())

      // For a method without a name, only the identity's own of that method.
      const again = anInvitation(another('again'), OTT)
      assert.deepEqual(await enrollments.removeExpiredLike(again, NOON), [
        { id: other.id, identityId: other.identityId },
      ])
    })

    test('a token is looked at without being spent', async (t) => {
      const { enrollments } = await openWithIdentity(t)
      const enrollment = anInvitation({}, UPDB)
      await enrollments.insert(enrollment)
      for (let times = 0; times < 2; times++) {
        const found = await enrollments.findByToken(TOKEN, 'updb', LAST)
        assert.deepEqual(found, { state: 'open', enrollment })
      }
      assert.deepEqual(await enrollments.findByToken(TOKEN, 'updb', END), {
        state: 'expired',
        identityId: anIdentity().id,
      })
      assert.deepEqual(await enrollments.findByToken(TOKEN, 'ott', NOON), { state: 'unknown' })
      assert.equal((await enrollments.findByToken(TOKEN, undefined, LAST)).state, 'open')
      const nobodys = await enrollments.findByToken(hash('another'), 'updb', NOON)
      assert.deepEqual(nobodys, { state: 'unknown' })
    })

    test('a token is taken once, before its end, for its own method', async (t) => {
      const { enrollments } = await openWithIdentity(t)
      const enrollment = anInvitation({}, UPDB)
      await enrollments.insert(enrollment)
      for (const [token, method, now, state] of [
        [hash('another'), 'updb', NOON, 'unknown'],
        [TOKEN, 'ott', NOON, 'unknown'],
        [TOKEN, 'ottca', NOON, 'unknown'],
        [TOKEN, 'updb', END, 'expired'],
      ] as const) {
        assert.equal((await enrollments.take(token, method, now)).state, state)
      }
      // D-317: with its JWT gone.
      const used = { ...enrollment, sealedJwt: undefined, usedAt: LAST, updatedAt: LAST }
      const taken = await enrollments.take(TOKEN, 'updb', LAST)
      assert.deepEqual(taken, { state: 'open', enrollment: used })
      assert.deepEqual(await enrollments.find(enrollment.id), used)
      // Used is told also after its end.
      for (const now of [LAST, after(90_000_000)]) {
        assert.deepEqual(await enrollments.take(TOKEN, 'updb', now), {
          state: 'used',
          identityId: anIdentity().id,
        })
        assert.deepEqual(await enrollments.findByToken(TOKEN, 'updb', now), {
          state: 'used',
          identityId: anIdentity().id,
        })
      }
    })

    test('of fifty that take one token at once through two connections, one gets it', async (t) => {
      const [one, other] = await openTwo(await database.create(t))
      await insertIdentity(one)
      await one.enrollments.insert(anInvitation({}, OTT))
      const answers = await Promise.all(
        FIFTY.map((i) => (i % 2 ? one : other).enrollments.take(TOKEN, 'ott', after(i))),
      )
      const states = answers.map(({ state }) => state).sort()
      assert.deepEqual(states, ['open', ...Array(49).fill('used')])
    })

    test('a transaction that fails after it took a token leaves it open', async (t) => {
      const store = await openWithIdentity(t)
      await store.enrollments.insert(anInvitation({}, OTT))
      const failing = store.transaction(async (tx) => {
        assert.equal((await tx.enrollments.take(TOKEN, 'ott', NOON)).state, 'open')
        await tx.authenticators.insert(aCertAuthenticator())
        throw new Error('something else is in the way')
      })
      await assert.rejects(failing, /in the way/)
      assert.deepEqual(await store.authenticators.listOf(anIdentity().id), [])
      assert.equal((await store.enrollments.take(TOKEN, 'ott', NOON)).state, 'open')
    })

    test('of twenty transactions that enroll with one token at once, one leaves an authenticator', async (t) => {
      const stores = await openTwo(await database.create(t))
      await insertIdentity(stores[0])
      await stores[0].enrollments.insert(anInvitation({}, OTT))
      const states = await Promise.all(
        FIFTY.slice(0, 20).map((i) =>
          stores[i % 2 ? 0 : 1].transaction(async (tx) => {
            const { state } = await tx.enrollments.take(TOKEN, 'ott', NOON)
            if (state !== 'open') return state
            const authenticator = aCertAuthenticator({ fingerprint: `${i}` })
            return tx.authenticators.insert(authenticator)
          }),
        ),
      )
      assert.deepEqual(states.sort(), ['inserted', ...Array(19).fill('used')])
    })

    test('a refreshed enrollment has another token and end; the old token is unknown', async (t) => {
      const { enrollments } = await openWithIdentity(t)
      const enrollment = anInvitation({}, OTT)
      await enrollments.insert(enrollment)
      const next = {
        tokenHash: hash('next'),
        expiresAt: after(200_000_000),
        sealedJwt: 'sealed-jwt-2',
      }
      assert.equal(await enrollments.replaceToken(enrollment.id, next, after(7)), true)
      const refreshed = { ...enrollment, ...next, updatedAt: after(7) }
      assert.deepEqual(await enrollments.find(enrollment.id), refreshed)
      assert.deepEqual(await enrollments.take(TOKEN, 'ott', NOON), { state: 'unknown' })
      assert.equal((await enrollments.take(next.tokenHash, 'ott', NOON)).state, 'open')
      // A used one is not refreshed, and neither is one that does not exist.
      const third = { tokenHash: hash('third'), expiresAt: END, sealedJwt: undefined }
      assert.equal(await enrollments.replaceToken(enrollment.id, third, NOON), false)
      assert.equal(await enrollments.replaceToken(id('another'), third, NOON), false)
      assert.deepEqual(await enrollments.take(third.tokenHash, 'ott', NOON), { state: 'unknown' })
    })

    test('an enrollment is removed by its id, and goes with its identity', async (t) => {
      const store = await openWithIdentity(t)
      const { enrollments } = store
      const ott = anInvitation(another('ott'), OTT)
      await enrollments.insert(anInvitation({}, UPDB))
      await enrollments.insert(ott)
      assert.equal(await enrollments.remove(ott.id), true)
      assert.equal(await enrollments.remove(ott.id), false)
      assert.deepEqual(await enrollments.take(ott.tokenHash, 'ott', NOON), { state: 'unknown' })
      await store.identities.remove(anIdentity().id)
      assert.equal(await enrollments.find(anInvitation().id), undefined)
    })

    test('the clean-up removes those that ended long ago, used or not, a few at a time', async (t) => {
      const { enrollments } = await openWithIdentity(t)
      for (const [i, usedAt] of [NOON, NOON, undefined].entries()) {
        const given = another(`${i}`, { expiresAt: after(i), usedAt })
        await enrollments.insert(anInvitation(given, OTT))
      }
      await enrollments.insert(anInvitation({}, UPDB))
      assert.equal(await enrollments.removeExpired(after(3), 2), 2)
      assert.equal(await enrollments.removeExpired(after(3), 2), 1)
      assert.equal(await enrollments.removeExpired(END, 2), 0)
      assert.deepEqual(await enrollments.listOf(anIdentity().id), [anInvitation()])
    })

    test('an identity that does not exist cannot be invited', async (t) => {
      const store = await (await database.create(t)).open()
      await store.authPolicies.insert(aPolicy())
      await assert.rejects(store.enrollments.insert(anInvitation()), /foreign key/i)
    })
  })
}
