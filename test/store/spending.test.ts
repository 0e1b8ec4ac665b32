/**
 * A refresh token is read with its owner, and spent with everything that belongs to it. The outcomes are the same on
 * every database, whether it needs one statement for it or several: D-322, R038, R040.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { ProvenPrimary } from '../../src/domain/factors/proven.ts'
import type { Store, Stores } from '../../src/domain/stores.ts'
import type { RefreshSpending } from '../../src/domain/tokens/stores.ts'
import type { KeptEvent } from '../../src/store/events.ts'
import { openStore } from '../../src/store/open.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { aPasskey } from './passkey-sample.ts'
import { aSpending, ENABLED, PRIMARIES, seedRefresh } from './refresh-sample.ts'
import {
  aCertAuthenticator,
  after,
  aLegacySession,
  anAuthenticator,
  aRefreshToken,
  aSession,
  hash,
} from './samples.ts'
import { waitingIn } from './waiting.ts'

afterAll(async () => (await startPostgres()).stop())

const { hash: HASH } = aRefreshToken()
const FIFTY = Array.from({ length: 50 }, (_, i) => i)
for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()

    test('a token is read with its session, the owner, and what the owner has registered', async (t) => {
      const store = await open(t)
      const { refreshTokens, apiSessions, authenticators } = store
      await seedRefresh(store, PRIMARIES.passkey)
      const token = aRefreshToken()
      const session = aSession({ primary: PRIMARIES.passkey as ProvenPrimary })
      const owned = {
        token,
        session,
        identity: ENABLED,
        authenticators: [anAuthenticator(), aCertAuthenticator()],
        passkey: { id: aPasskey().id },
      }
      assert.deepEqual(await refreshTokens.findOwned(HASH), owned)
      assert.equal(await refreshTokens.findOwned(hash('another')), undefined)
      await authenticators.remove(anAuthenticator().id)
      await authenticators.remove(aCertAuthenticator().id)
      await store.passkeys.removeAll(ENABLED.id)
      const bare = { ...owned, authenticators: [], passkey: undefined }
      assert.deepEqual(await refreshTokens.findOwned(HASH), bare)
      await store.identities.remove(ENABLED.id)
      assert.deepEqual(await refreshTokens.findOwned(HASH), { ...bare, identity: undefined })
      await apiSessions.remove(session.id)
      const nothing = { ...bare, identity: undefined, session: undefined }
      assert.deepEqual(await refreshTokens.findOwned(HASH), nothing)
      await apiSessions.insert(aLegacySession({ id: session.id }))
      assert.equal((await refreshTokens.findOwned(HASH))?.session?.kind, 'legacy')
    })

    for (const [name, primary] of Object.entries(PRIMARIES)) {
      test(`a token of a session that began with a ${name} is spent once, in one commit with its event`, async (t) => {
        const events: KeptEvent[] = []
        const { address } = await database.create(t)
        const store = await openStore(address, (kept) => events.push(...kept))
        t.after(() => store.close())
        const { refreshTokens, apiSessions } = store
        await seedRefresh(store, primary)
        const proof = { hash: 'proof', expiresAt: after(5) }
        const first = aSpending('first', { primary, proof })
        assert.equal(await store.spendRefreshToken(first), 'spent')
        const spent = { at: first.at, successor: first.successor.hash }
        assert.deepEqual(await refreshTokens.find(HASH), aRefreshToken({ spent }))
        assert.deepEqual(await refreshTokens.find(hash('first')), first.successor)
        const { expiresAt, tokensEndAt } = first
        const renewed = aSession({ primary, expiresAt, tokensEndAt })
        assert.deepEqual(await apiSessions.find(renewed.id), renewed)
        const names = { identityName: ENABLED.name, actorName: undefined }
        assert.deepEqual(events, [{ event: first.event, names, kept: 'row' }])
        const recorded = await store.events.find(first.event.id)
        assert.equal(recorded?.identityName, ENABLED.name)
        assert.deepEqual(recorded?.details, { scope: 'openid' })

        // Earlier ends: a second request may be the one that started first.
        const early = { expiresAt: after(1), tokensEndAt: after(1), primary }
        assert.equal(await store.spendRefreshToken(aSpending('second', early)), 'taken')
        const again = aSpending('third', { hash: hash('first'), proof, primary })
        assert.equal(await store.spendRefreshToken(again), 'replayed')
        assert.deepEqual(await refreshTokens.find(hash('first')), first.successor)
        assert.deepEqual(await apiSessions.find(renewed.id), renewed)
        assert.equal(await refreshTokens.find(hash('second')), undefined)
        assert.equal(await refreshTokens.find(hash('third')), undefined)
        assert.equal(events.length, 1)
        assert.equal(await store.events.find(again.event.id), undefined)
      })
    }

    test('a token is not spent if its session has ended, or its owner may not refresh', async (t) => {
      const store = await open(t)
      const { identities, apiSessions } = store
      await seedRefresh(store)
      const refused = async (outcome: string, given: Partial<RefreshSpending> = {}) => {
        assert.equal(await store.spendRefreshToken(aSpending('next', given)), outcome)
        assert.deepEqual(await store.refreshTokens.find(HASH), aRefreshToken())
        assert.equal(await store.refreshTokens.find(hash('next')), undefined)
        assert.equal(await store.events.find(aSpending('next').event.id), undefined)
      }
      await identities.replaceDisablement(ENABLED.id, { at: after(1), until: undefined }, after(1))
      await refused('identity-disabled')
      const { at } = aSpending('next')
      await identities.replaceDisablement(ENABLED.id, { at: after(1), until: after(1_001) }, at)
      await refused('identity-disabled')
      // A disablement that is over.
      await identities.replaceDisablement(ENABLED.id, { at: after(1), until: at }, at)
      await apiSessions.remove(aSession().id)
      await refused('session-ended')
      await apiSessions.insert(aLegacySession({ id: aSession().id }))
      await refused('session-ended')
      await store.authenticators.remove(anAuthenticator().id)
      await store.passkeys.removeAll(ENABLED.id)
      await refused('identity-disabled')
      await refused('identity-disabled', { primary: PRIMARIES.passkey as ProvenPrimary })
      await identities.remove(ENABLED.id)
      await refused('identity-disabled', { primary: PRIMARIES.claim as ProvenPrimary })
    })

    test('D-231: a refresh leaves the token expiry of a session unknown if it was not recorded', async (t) => {
      const store = await open(t)
      await seedRefresh(store)
      const { tokensEndAt: _, ...old } = aSession()
      await store.apiSessions.remove(old.id)
      await store.apiSessions.insert(old)
      const spending = aSpending('next')
      assert.equal(await store.spendRefreshToken(spending), 'spent')
      const renewed = { ...old, expiresAt: spending.expiresAt }
      assert.deepEqual(await store.apiSessions.find(old.id), renewed)
    })

    test('D-466: one that fails at its last step writes nothing, and those beside it are not disturbed', async (t) => {
      const { address } = await database.create(t)
      const events: string[] = []
      const store = await openStore(address, (kept) => events.push(...kept.map((k) => k.event.id)))
      t.after(() => store.close())
      await seedRefresh(store)
      const names = ['one', 'two', 'three']
      for (const name of names) {
        await store.refreshTokens.insert(aRefreshToken({ hash: hash(`old ${name}`) }))
      }
      const spendings = names.map((name) => aSpending(name, { hash: hash(`old ${name}`) }))
      const [one, two, three] = spendings
      assert.ok(one && two && three)
      await store.events.insert(two.event)
      const outcomes = await Promise.allSettled(spendings.map(store.spendRefreshToken))
      assert.deepEqual(
        outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed')),
        ['spent', 'failed', 'spent'],
      )
      const { refreshTokens } = store
      assert.equal((await refreshTokens.find(two.hash))?.spent, undefined)
      assert.equal(await refreshTokens.find(two.successor.hash), undefined)
      for (const { at, hash, successor } of [one, three]) {
        assert.deepEqual((await refreshTokens.find(hash))?.spent, { at, successor: successor.hash })
        assert.deepEqual(await refreshTokens.find(successor.hash), successor)
      }
      assert.deepEqual(events.toSorted(), [one, two, three].map(({ event }) => event.id).toSorted())
    })

    test('R040: of fifty requests that spend one token at once through two connections, one does', async (t) => {
      const stores = await openTwo(await database.create(t))
      await seedRefresh(stores[0])
      const outcomes = await Promise.all(
        FIFTY.map((i) => stores[i % 2 ? 0 : 1].spendRefreshToken(aSpending(`next ${i}`))),
      )
      const wanted = outcomes.map((one) => (one === 'spent' ? one : 'taken'))
      assert.deepEqual(outcomes, wanted)
      assert.equal(outcomes.filter((one) => one === 'spent').length, 1)
      const left = await Promise.all(
        FIFTY.map((i) => stores[1].refreshTokens.find(hash(`next ${i}`))),
      )
      assert.deepEqual(
        left.map((token) => token !== undefined),
        outcomes.map((one) => one === 'spent'),
      )
    })

    /** What another transaction does while the spending waits for it: the spending must see the newest state. */
    const MEANWHILE: Readonly<Record<string, (tx: Stores) => Promise<unknown>>> = {
      'identity-disabled': (tx) =>
        tx.identities.replaceDisablement(ENABLED.id, { at: after(1), until: undefined }, after(1)),
      'identity-disabled, by its authenticator': (tx) =>
        tx.authenticators.remove(anAuthenticator().id),
      'session-ended': (tx) => tx.apiSessions.remove(aSession().id),
      taken: async (tx) => {
        await tx.refreshTokens.removeOf(aSession().id)
        const spent = { at: after(7), successor: hash('theirs') }
        await tx.refreshTokens.insert(aRefreshToken({ spent }))
      },
      replayed: (tx) => tx.usedProofs.insert({ hash: 'proof', expiresAt: after(5) }),
    }

    test('a spending that waited for another transaction judges what that one committed', async (t) => {
      const created = await database.create(t)
      const [one, other] = await openTwo(created)
      await seedRefresh(one)
      for (const [outcome, change] of Object.entries(MEANWHILE)) {
        const proof = { hash: outcome === 'replayed' ? 'proof' : outcome, expiresAt: after(5) }
        const [pending] = await one.transaction(async (tx) => {
          await tx.identities.hold(ENABLED.id)
          await change(tx)
          const pending = other.spendRefreshToken(aSpending(outcome, { proof }))
          await waitingIn(created)
          return [pending]
        })
        assert.equal(`${await pending}`, outcome.split(',')[0], outcome)
        await one.identities.replaceDisablement(ENABLED.id, undefined, after(1))
        await one.authenticators.insert(anAuthenticator())
        await one.apiSessions.insert(aSession()).catch(() => {})
      }
    })
  })
}
