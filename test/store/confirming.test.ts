/** Running routers with their confirmations, and which session was at which router. D-381, D-383. */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { IdentityId } from '../../src/base/ids.ts'
import { positionOf } from '../../src/domain/sessions/confirming/position.ts'
import type { RunChange } from '../../src/domain/sessions/confirming/stores.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { after, anEnding, anIdentity, aSession, NOON, sessionId } from './samples.ts'
import { insertIdentity } from './seed.ts'
import { waitingIn } from './waiting.ts'

afterAll(async () => (await startPostgres()).stop())

const ROUTER = 'router-1' as IdentityId
const step = (upTo: number, at = NOON) => ({ position: positionOf(upTo - 2, [upTo]), at })
const change = (changes: Partial<RunChange> = {}): RunChange => ({
  routerId: ROUTER,
  run: 'program-1',
  contactAt: NOON,
  ...changes,
})

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()
    const apply = (store: Store, ...changes: readonly RunChange[]) =>
      store.transaction((tx) => tx.routerRuns.apply(changes))

    test('a run keeps its newest confirmations, whichever process writes them', async (t) => {
      const store = await open(t)
      await apply(store, change({ opened: { feed: 'feed-1', at: NOON } }))
      for (let i = 1; i <= 40; i++) {
        await apply(store, change({ contactAt: after(i), step: step(i + 2, after(i)) }))
      }
      const [run, ...others] = await store.routerRuns.list(10)
      assert.deepEqual(others, [])
      assert.equal(run?.name, undefined)
      assert.equal(run?.contactAt, after(40))
      assert.equal(run?.steps.length, 32)
      assert.deepEqual(run?.steps.at(-1), step(42, after(40)))
    })

    test('writes at the same moment lose nothing', async (t) => {
      const store = await open(t)
      await apply(store, change())
      await Promise.all(
        Array.from({ length: 8 }, (_, i) => apply(store, change({ step: step(i + 2) }))),
      )
      const [run] = await store.routerRuns.list(10)
      assert.equal(run?.steps.length, 8)
    })

    test('the first writes about a run lose nothing either, if they come at the same moment', async (t) => {
      const created = await database.create(t)
      const [one, other] = await openTwo(created)
      const [pending] = await one.transaction(async (tx) => {
        await tx.routerRuns.apply([change({ opened: { feed: 'feed-1', at: NOON } })])
        const pending = apply(other, change({ step: step(2) }))
        await waitingIn(created)
        return [pending]
      })
      await pending
      const [run] = await one.routerRuns.list(10)
      assert.equal(run?.feed, 'feed-1')
      assert.deepEqual(run?.steps, [step(2)])
    })

    test('contacts are of live sessions alone, and go with time', async (t) => {
      const store = await open(t)
      const { sessionContacts } = store
      const owner = anIdentity()
      await insertIdentity(store, owner)
      await store.apiSessions.insert(aSession({ identityId: owner.id, id: sessionId('live') }))
      await store.sessionEndings.insert(anEnding('ended'))
      const ids = ['live', 'ended', 'made-up'].map(sessionId)
      await sessionContacts.note(ROUTER, ids, NOON)
      await sessionContacts.note(ROUTER, ids, after(7))
      await sessionContacts.note(ROUTER, [], after(9))
      assert.deepEqual(await sessionContacts.listOf(sessionId('live'), 10), [
        { routerId: ROUTER, firstAt: NOON, lastAt: after(7), name: undefined },
      ])
      for (const id of ['ended', 'made-up']) {
        assert.deepEqual(await sessionContacts.listOf(sessionId(id), 10), [])
      }
      assert.equal(await sessionContacts.removeExpired(after(7), 10), 0)
      assert.equal(await sessionContacts.removeExpired(after(8), 10), 1)
    })

    test('an ending is found by what ended', async (t) => {
      const { sessionEndings } = await open(t)
      const sequence = await sessionEndings.insert(anEnding('a'))
      assert.deepEqual(await sessionEndings.find(sessionId('a')), { ...anEnding('a'), sequence })
      for (const id of ['b', 'a\0'])
        assert.equal(await sessionEndings.find(sessionId(id)), undefined)
    })
  })
}
