/** How instances learn of each other's changes, and what they read while there are none: D-298. */
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { after as afterAll, suite, test } from 'node:test'
import { Secret } from '../../src/base/secrets/secret.ts'
import type { Store, Stores } from '../../src/domain/stores.ts'
import { openStore } from '../../src/store/open.ts'
import { rememberReads } from '../../src/store/remembered-reads.ts'
import { eventually } from '../support/eventually.ts'
import { startCable } from '../support/stores/cable.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo, postgresql } from './databases.ts'
import { anEnding, sessionId } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const subjects = async ({ sessionEndings }: Pick<Stores, 'sessionEndings'>) =>
  (await sessionEndings.listAfter(0)).map(({ subject }) => subject)

/** Everything that copies in memory are compared with, several times a second. */
const readAll = ({
  installation,
  ruleVersions,
  sessionEndings,
  signingKeys,
  authorities,
}: Stores) =>
  Promise.all([
    installation.find(),
    ruleVersions.current(),
    sessionEndings.listAfter(0),
    signingKeys.list(),
    authorities.list(),
  ])

for (const kind of ALL) {
  suite(kind.name, () => {
    test('sees every commit at once, of this store and of another one', async (t) => {
      const [one, other] = await openTwo(await kind.create(t))
      assert.deepEqual(await subjects(one.aside), [])
      for (let i = 0; i < 5; i++) {
        await other.sessionEndings.insert(anEnding(`other-${i}`))
        assert.equal((await subjects(one.aside)).length, 3 * i + 1)
        await one.sessionEndings.insert(anEnding(`own-${i}`))
        assert.equal((await subjects(one.aside)).length, 3 * i + 2)
        await other.transaction((tx) => tx.sessionEndings.insert(anEnding(`tx-${i}`)))
        assert.equal((await subjects(one.aside)).length, 3 * i + 3)
      }
      const before = await one.aside.ruleVersions.current()
      await other.ruleVersions.raise()
      assert.equal(await one.aside.ruleVersions.current(), before + 1)
    })

    test('does not see what is not committed, and then sees it', async (t) => {
      const [one, other] = await openTwo(await kind.create(t))
      if (one === other) return
      await other.transaction(async (tx) => {
        await tx.sessionEndings.insert(anEnding('a'))
        assert.deepEqual(await subjects(one.aside), [])
        assert.deepEqual(await subjects(one.aside), [])
      })
      assert.deepEqual(await subjects(one.aside), [sessionId('a')])
    })
  })
}

test('while nothing is committed, nothing is read again', async (t) => {
  const database = await ALL[0]?.create(t)
  const store = await database?.open()
  assert.ok(store !== undefined)
  let reads = 0
  let mark: string | undefined = 'one'
  const sessionEndings = {
    ...store.sessionEndings,
    listAfter(after: number) {
      reads += 1
      return store.sessionEndings.listAfter(after)
    },
  }
  const stores = rememberReads({ ...store, sessionEndings }, async () => mark)
  const readsOf = async (after: number) => {
    const before = reads
    await stores.sessionEndings.listAfter(after)
    return reads - before
  }
  assert.deepEqual([await readsOf(0), await readsOf(0), await readsOf(1)], [1, 0, 1])
  mark = 'two'
  assert.deepEqual([await readsOf(1), await readsOf(1)], [1, 0])
  // Not known: every call reads.
  mark = undefined
  assert.deepEqual([await readsOf(1), await readsOf(1)], [1, 1])
})

suite('PostgreSQL', () => {
  function listenTo(store: Store) {
    const emitter = new EventEmitter()
    let notices = 0
    store.changes.follow(() => {
      notices += 1
      emitter.emit('notice')
    })
    return {
      next: () => once(emitter, 'notice'),
      notices: () => notices,
      isPushed: () => eventually(() => store.changes.isPushed() || undefined, 'a listener'),
    }
  }

  test('an idle instance asks once for all of its copies', async (t) => {
    const cable = await startCable(t, await (await startPostgres()).freshDatabase())
    const store = await openStore({ kind: 'postgres', url: new Secret(cable.url) })
    t.after(() => store.close())
    const { isPushed } = listenTo(store)
    await isPushed()
    await readAll(store.aside)
    cable.takeRoundTrips()
    // A commit in any database of this server counts as a change, and other tests use it too.
    await eventually(async () => {
      await readAll(store.aside)
      return cable.takeRoundTrips() === 1 ? true : undefined
    }, 'one round trip for all copies')
  })

  test('a change of another instance is told at once, and what concerns no copy is not', async (t) => {
    const [one, other] = await openTwo(await postgresql.create(t))
    const { next, notices, isPushed } = listenTo(one)
    await isPushed()
    const told = async (change: () => Promise<unknown>) => {
      const notice = next()
      await change()
      await notice
    }
    await told(() => other.sessionEndings.insert(anEnding('a')))
    await told(() => other.ruleVersions.raise())
    const before = notices()
    const installation = { createdAt: anEnding('a').at }
    await other.installation.insert({
      ...installation,
      secretFingerprint: 'one' as never,
      sealedHashingSecret: 'sealed',
    })
    await other.installation.touch()
    // Notices come in the order of the commits, so this one is the next.
    await told(() => other.sessionEndings.insert(anEnding('b')))
    assert.equal(notices(), before + 1)
  })

  test('a rolled back change is not told', async (t) => {
    const [one, other] = await openTwo(await postgresql.create(t))
    const { next, notices, isPushed } = listenTo(one)
    await isPushed()
    const before = notices()
    const failing = other.transaction(async (tx) => {
      await tx.sessionEndings.insert(anEnding('a'))
      throw new Error('on purpose')
    })
    await assert.rejects(failing, /on purpose/)
    const notice = next()
    await other.sessionEndings.insert(anEnding('b'))
    await notice
    assert.equal(notices(), before + 1)
  })

  test('an instance whose listening connection dies looks for itself, and listens again', async (t) => {
    const database = await postgresql.create(t)
    const [one, other] = await openTwo(database)
    const { next, isPushed } = listenTo(one)
    await isPushed()
    const lost = next()
    await database.query(`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and query like 'listen%'`)
    await lost
    assert.deepEqual(await subjects(one.aside), [])
    await isPushed()
    const notice = next()
    await other.sessionEndings.insert(anEnding('a'))
    await notice
    assert.deepEqual(await subjects(one.aside), [sessionId('a')])
  })
})
