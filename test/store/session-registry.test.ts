/**
 * The list of API sessions that administrators see, and the hold that keeps one from ending in the middle of something,
 * on every database. API 3.3, R051, R099.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { IdentityId } from '../../src/base/ids.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { after, aLegacySession, anIdentity, aSession, NOON, sessionId } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const PAGE = { limit: 500, offset: 0 }
const EVERYBODY = { of: undefined, at: NOON }
const STRANGER = 'identity-2' as IdentityId

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()

    /** Both kinds, of two identities; the legacy one is the newest. */
    async function filled(t: TestContext) {
      const { apiSessions } = await open(t)
      const sessions = [
        aLegacySession({ createdAt: after(3) }),
        aSession({ id: sessionId('b'), createdAt: after(2) }),
        aSession({ id: sessionId('a'), createdAt: after(1), identityId: STRANGER }),
        aSession({ id: sessionId('c'), createdAt: after(0) }),
      ]
      for (const session of sessions.toReversed()) await apiSessions.insert(session)
      return { apiSessions, sessions }
    }
    const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)

    test('API 3.3: both kinds are listed newest first, whole, with how many there are', async (t) => {
      const { apiSessions, sessions } = await filled(t)
      const { rows, totalCount } = await apiSessions.list(EVERYBODY, PAGE)
      assert.equal(totalCount, 4)
      assert.deepEqual(idsOf(rows), idsOf(sessions))
      assert.deepEqual(rows[0], sessions[0])
      assert.deepEqual(rows[1], sessions[1])
    })

    test('a page neither repeats nor leaves out, also where two began at one moment', async (t) => {
      const { apiSessions, sessions } = await filled(t)
      const twins = ['d', 'e', 'f'].map((id) =>
        aSession({ id: sessionId(id), createdAt: after(1) }),
      )
      for (const twin of twins) await apiSessions.insert(twin)
      const seen: string[] = []
      for (const offset of [0, 1, 2, 3, 4, 5, 6, 7]) {
        const { rows, totalCount } = await apiSessions.list(EVERYBODY, { limit: 1, offset })
        assert.equal(totalCount, 7)
        seen.push(...idsOf(rows))
      }
      assert.deepEqual(seen.toSorted(), idsOf([...sessions, ...twins]).toSorted())
    })

    test('those of one identity are counted and listed apart', async (t) => {
      const { apiSessions } = await filled(t)
      const mine = await apiSessions.list({ of: anIdentity().id, at: NOON }, PAGE)
      assert.deepEqual([idsOf(mine.rows), mine.totalCount], [['session-9', 'b', 'c'], 3])
      const theirs = await apiSessions.list({ of: STRANGER, at: NOON }, PAGE)
      assert.deepEqual([idsOf(theirs.rows), theirs.totalCount], [['a'], 1])
      const nobody = await apiSessions.list({ of: 'nobody' as IdentityId, at: NOON }, PAGE)
      assert.deepEqual(nobody, { rows: [], totalCount: 0 })
    })

    test('what has expired by the given moment is left out', async (t) => {
      const { apiSessions } = await open(t)
      await apiSessions.insert(aSession({ id: sessionId('early'), expiresAt: after(10) }))
      await apiSessions.insert(aSession({ id: sessionId('late'), expiresAt: after(11) }))
      const at = async (moment: number) =>
        idsOf((await apiSessions.list({ of: undefined, at: after(moment) }, PAGE)).rows).toSorted()
      assert.deepEqual(await at(9), ['early', 'late'])
      assert.deepEqual(await at(10), ['late'])
      assert.deepEqual(await at(11), [])
    })

    test('what began after the given moment is left out', async (t) => {
      const { apiSessions } = await filled(t)
      const until = (moment: number) =>
        apiSessions.list({ of: undefined, at: NOON, createdUntil: after(moment) }, PAGE)
      assert.deepEqual(idsOf((await until(2)).rows), ['b', 'a', 'c'])
      assert.equal((await until(2)).totalCount, 3)
      assert.deepEqual(idsOf((await until(-1)).rows), [])
    })

    test('a session is held as it is, and nothing is held of one that is not there', async (t) => {
      const store = await open(t)
      await store.apiSessions.insert(aSession())
      await store.apiSessions.insert(aLegacySession())
      await store.transaction(async (tx) => {
        assert.deepEqual(await tx.apiSessions.hold(aSession().id), aSession())
        assert.deepEqual(await tx.apiSessions.hold(aLegacySession().id), aLegacySession())
        assert.equal(await tx.apiSessions.hold(sessionId('another')), undefined)
      })
      assert.deepEqual(await store.apiSessions.find(aSession().id), aSession())
    })

    test('R099: a session that is held neither ends nor changes before the transaction does', async (t) => {
      const store = await open(t)
      await store.apiSessions.insert(aLegacySession())
      const { id } = aLegacySession()
      const order: string[] = []
      const others: Promise<unknown>[] = []
      await store.transaction(async (tx) => {
        await tx.apiSessions.hold(id)
        others.push(
          store.apiSessions
            .renewLegacy(id, after(500), after(2_000_000))
            .then(() => order.push('renewed')),
          store.apiSessions.remove(id).then(() => order.push('removed')),
        )
        // Time enough for them to come first, if they could.
        for (let i = 0; i < 20; i++) {
          assert.deepEqual(await tx.apiSessions.find(id), aLegacySession())
        }
        order.push('transaction')
      })
      await Promise.all(others)
      assert.equal(order[0], 'transaction')
      assert.equal(await store.apiSessions.find(id), undefined)
    })

    test('R099: of many that hold one session, each sees what the one before has done', async (t) => {
      const stores = await openTwo(await database.create(t))
      await stores[0].apiSessions.insert(aLegacySession())
      const { id } = aLegacySession()
      const rounds = Array.from({ length: 20 }, (_, i) => i)
      const seen = await Promise.all(
        rounds.map((i) =>
          stores[i % 2 ? 0 : 1].transaction(async (tx) => {
            const session = await tx.apiSessions.hold(id)
            const count = session?.amr.length ?? 0
            const amr = Array(count + 1).fill('pwd')
            await tx.apiSessions.replaceProven(aLegacySession({ amr }))
            return count
          }),
        ),
      )
      // Two that saw the same would have written the same.
      assert.deepEqual(
        seen.toSorted((a, b) => a - b),
        rounds.map((i) => i + 1),
      )
    })
  })
}
