/**
 * Refresh tokens on every database: stored by their hash, spent once, gone with their session. D-27, R038, R040.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { after, aRefreshToken, aSession, hash, sessionId } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const FIFTY = Array.from({ length: 50 }, (_, i) => i)
const { hash: HASH } = aRefreshToken()
const SPENT = { at: after(5), successor: hash('refresh-2') }

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()

    test('a refresh token comes back as it was stored, spent or not', async (t) => {
      const { refreshTokens } = await open(t)
      const spent = aRefreshToken({ hash: hash('refresh-0'), spent: SPENT })
      for (const token of [aRefreshToken(), spent]) {
        await refreshTokens.insert(token)
        assert.deepEqual(await refreshTokens.find(token.hash), token)
      }
      for (const other of ['another', 'REFRESH-1', '']) {
        assert.equal(await refreshTokens.find(hash(other)), undefined)
      }
    })

    test('two refresh tokens do not have the same hash', async (t) => {
      const { refreshTokens } = await open(t)
      await refreshTokens.insert(aRefreshToken({ spent: SPENT }))
      const twin = aRefreshToken({ sessionId: sessionId('session-2') })
      await assert.rejects(refreshTokens.insert(twin), /unique/i)
      assert.deepEqual(await refreshTokens.find(HASH), aRefreshToken({ spent: SPENT }))
    })

    test('a refresh token is spent once, and remembers when and for which', async (t) => {
      const { refreshTokens } = await open(t)
      await refreshTokens.insert(aRefreshToken())
      assert.equal(await refreshTokens.take(HASH, SPENT), true)
      const later = { at: after(6), successor: hash('refresh-3') }
      assert.equal(await refreshTokens.take(HASH, later), false)
      assert.deepEqual(await refreshTokens.find(HASH), aRefreshToken({ spent: SPENT }))
      assert.equal(await refreshTokens.take(hash('another'), SPENT), false)
    })

    test('R040: of fifty that take one token at once through two connections, one gets it', async (t) => {
      const [one, other] = await openTwo(await database.create(t))
      await one.refreshTokens.insert(aRefreshToken())
      const taken = await Promise.all(
        FIFTY.map((i) => {
          const { refreshTokens } = i % 2 ? one : other
          return refreshTokens.take(HASH, { at: after(i), successor: hash(`successor-${i}`) })
        }),
      )
      assert.equal(taken.filter(Boolean).length, 1)
      const winner = taken.indexOf(true)
      const spent = { at: after(winner), successor: hash(`successor-${winner}`) }
      assert.deepEqual(await other.refreshTokens.find(HASH), aRefreshToken({ spent }))
    })

    test('R040: of fifty transactions that spend one token at once, one leaves a successor', async (t) => {
      const stores = await openTwo(await database.create(t))
      await stores[0].refreshTokens.insert(aRefreshToken())
      const outcomes = await Promise.all(
        FIFTY.map((i) =>
          stores[i % 2 ? 0 : 1].transaction(async (tx) => {
            const next = aRefreshToken({ hash: hash(`successor-${i}`) })
            const spending = { at: after(i), successor: next.hash }
            if (!(await tx.refreshTokens.take(HASH, spending))) return false
            await tx.refreshTokens.insert(next)
            return true
          }),
        ),
      )
      assert.equal(outcomes.filter(Boolean).length, 1)
      const left = await Promise.all(
        FIFTY.map((i) => stores[1].refreshTokens.find(hash(`successor-${i}`))),
      )
      assert.deepEqual(
        left.map((token) => token !== undefined),
        outcomes,
      )
    })

    test('a spending that is rolled back leaves the token unspent and no successor', async (t) => {
      const { refreshTokens, transaction } = await open(t)
      await refreshTokens.insert(aRefreshToken())
      const reason = new Error('changed my mind')
      const failing = transaction(async (tx) => {
        assert.equal(await tx.refreshTokens.take(HASH, SPENT), true)
        await tx.refreshTokens.insert(aRefreshToken({ hash: SPENT.successor }))
        throw reason
      })
      await assert.rejects(failing, (error) => error === reason)
      assert.deepEqual(await refreshTokens.find(HASH), aRefreshToken())
      assert.equal(await refreshTokens.find(SPENT.successor), undefined)
    })

    test('all tokens of a session go, spent ones too, and no others', async (t) => {
      const { refreshTokens } = await open(t)
      const successor = aRefreshToken({ hash: SPENT.successor })
      const theirs = aRefreshToken({ hash: hash('theirs'), sessionId: sessionId('session-2') })
      await refreshTokens.insert(aRefreshToken({ spent: SPENT }))
      await refreshTokens.insert(successor)
      await refreshTokens.insert(theirs)
      await refreshTokens.removeOf(aRefreshToken().sessionId)
      assert.equal(await refreshTokens.find(HASH), undefined)
      assert.equal(await refreshTokens.find(successor.hash), undefined)
      assert.deepEqual(await refreshTokens.find(theirs.hash), theirs)
    })

    test('a refresh moves the end of its session, and never back', async (t) => {
      const { apiSessions } = await open(t)
      const { id } = aSession()
      await apiSessions.insert(aSession())
      assert.equal(await apiSessions.renewOidc(id, after(2_000_000), after(900_000)), true)
      assert.equal(await apiSessions.renewOidc(id, after(1_900_000), after(800_000)), true)
      const renewed = { expiresAt: after(2_000_000), tokensEndAt: after(900_000) }
      assert.deepEqual(await apiSessions.find(id), aSession(renewed))
    })

    test('D-231: a refresh leaves the token expiry of a session unknown if it was not recorded', async (t) => {
      const { apiSessions } = await open(t)
      const { tokensEndAt: _, ...old } = aSession()
      await apiSessions.insert(old)
      assert.equal(await apiSessions.renewOidc(old.id, after(2_000_000), after(900_000)), true)
      assert.deepEqual(await apiSessions.find(old.id), { ...old, expiresAt: after(2_000_000) })
    })

    test('a refresh does not bring back a session that has ended', async (t) => {
      const { apiSessions } = await open(t)
      const { id } = aSession()
      await apiSessions.insert(aSession())
      await apiSessions.remove(id)
      assert.equal(await apiSessions.renewOidc(id, after(2_000_000), after(900_000)), false)
      assert.equal(await apiSessions.find(id), undefined)
    })
  })
}
