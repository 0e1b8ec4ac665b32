/**
 * Refresh tokens on every database: stored by their hash, gone with their session. D-27. How one is spent: spending.test.ts.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL } from './databases.ts'
import { after, aRefreshToken, hash, sessionId } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

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
  })
}
