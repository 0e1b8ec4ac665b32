/** D-373: transactions that wait at the same moment share a commit, and nothing else. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { StoreUnavailable } from '../../src/errors/store-unavailable.ts'
import { openStore } from '../../src/store/open.ts'
import { runCompiled } from '../../src/store/short-way.ts'
import { eventually } from '../support/eventually.ts'
import { sqliteOnDisk } from './databases.ts'
import { anEvent } from './samples.ts'
import { heldSyncs, openRows, type Rows } from './synced-rows.ts'

const insert = (n: number) => (tx: Kysely<Rows>) => tx.insertInto('rows').values({ n }).execute()
/** Without waiting for anything (D-466). */
const insertNow = (n: number) => (tx: Kysely<Rows>) => {
  const outcome = runCompiled(tx as never, CompiledQuery.raw('insert into rows values (?)', [n]))
  assert.ok(!(outcome instanceof Promise))
}
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** The frames in the WAL that end a commit: https://sqlite.org/fileformat2.html#wal_file_format */
function commitsIn(path: string): number {
  const wal = readFileSync(`${path}-wal`)
  const frame = 24 + wal.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frame <= wal.length; at += frame)
    if (wal.readUInt32BE(at + 4) > 0) commits++
  return commits
}

test('twenty at once are three commits', async (t) => {
  const { path, inShared, committed } = await openRows(t)
  const before = commitsIn(path)
  await Promise.all(upTo(20).map((n) => inShared(insert(n))))
  assert.equal(commitsIn(path) - before, 3)
  assert.deepEqual(committed(), upTo(20))
})

test('while the disk is slow, few wait for it to share a commit, and many share its next sync', async (t) => {
  const { path, onSync, inShared, committed } = await openRows(t)
  const { held, nth } = heldSyncs(onSync)
  const before = commitsIn(path)
  const writing = [inShared(insert(0))]
  const first = await nth(1)
  for (let n = 1; n <= 20; n++) writing.push(inShared(insert(n)))
  await eventually(() => (committed().length === 17 ? true : undefined), 'two full batches')
  first.resolve()
  ;(await nth(2)).resolve()
  ;(await nth(3)).resolve()
  await Promise.all(writing)
  assert.equal(commitsIn(path) - before, 4)
  assert.equal(held.length, 3)
})

test('each sees what those before it have written', async (t) => {
  const { inShared } = await openRows(t)
  const counts = await Promise.all(
    upTo(5).map((n) =>
      inShared(async (tx) => {
        await insert(n)(tx)
        return (await tx.selectFrom('rows').select('n').execute()).length
      }),
    ),
  )
  assert.deepEqual(counts, [1, 2, 3, 4, 5])
})

test('one that fails takes back only what it wrote itself', async (t) => {
  const { inShared, committed } = await openRows(t)
  const outcomes = await Promise.allSettled(
    upTo(6).map((n) =>
      inShared(async (tx) => {
        await insert(n)(tx)
        if (n % 2 === 1) throw new Error(`no ${n}`)
        return n
      }),
    ),
  )
  assert.deepEqual(
    outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    [0, 'no 1', 2, 'no 3', 4, 'no 5'],
  )
  assert.deepEqual(committed(), [0, 2, 4])
})

test('one that fails alone is rolled back', async (t) => {
  const { inShared, committed } = await openRows(t)
  const failing = inShared(async (tx) => {
    await insert(1)(tx)
    throw new Error('no')
  })
  await assert.rejects(failing, /^Error: no$/)
  assert.deepEqual(committed(), [])
  await inShared(insert(2))
  assert.deepEqual(committed(), [2])
})

test('none is answered before the sync, and a failed sync is an error for all of them', async (t) => {
  const { inShared, onSync, committed } = await openRows(t)
  const { nth } = heldSyncs(onSync)
  const answered: number[] = []
  const writing = upTo(3).map((n) => inShared(insert(n)).then(() => answered.push(n)))
  const sync = await nth(1)
  assert.deepEqual(committed(), [0, 1, 2])
  assert.deepEqual(answered, [])
  sync.reject(new Error('EIO'))
  for (const outcome of await Promise.allSettled(writing)) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnavailable)
  }
  await assert.rejects(inShared(insert(4)), StoreUnavailable)
})

test('if SQLite rolls everything back, all of them fail with the reason, and nothing is stored', async (t) => {
  const { inShared, committed } = await openRows(t)
  await inShared(insert(0))
  const outcomes = await Promise.allSettled([
    inShared(insert(1)),
    // As a full disk may do.
    inShared((tx) => sql`insert or rollback into rows (n) values (0)`.execute(tx)),
    inShared(insert(2)),
  ])
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected')
    assert.match(outcome.reason.message, /^UNIQUE constraint failed: rows\.n$/)
  }
  assert.deepEqual(committed(), [0])
  await inShared(insert(3))
  assert.deepEqual(committed(), [0, 3])
})

test('while another program keeps the database locked, all that wait are refused together', async (t) => {
  const { path, inShared } = await openRows(t)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec('begin immediate')
  let refused = 0
  const waiting = upTo(12).map((n) =>
    assert.rejects(inShared(insert(n)), StoreUnavailable).then(() => {
      refused += 1
    }),
  )
  await Promise.race(waiting)
  await nextTurn()
  assert.equal(refused, 12)
  other.exec('rollback')
  await inShared(insert(1))
})

test('events are reported in the order of their transactions, except those of a failed one', async (t) => {
  const { address } = await sqliteOnDisk.create(t)
  const reported: string[][] = []
  const store = await openStore(address, (events) =>
    reported.push(events.map(({ event }) => event.id)),
  )
  t.after(() => store.close())
  await Promise.allSettled(
    ['a', 'b', 'c'].map((id) =>
      store.transaction(async (tx) => {
        await tx.events.insert(anEvent(id))
        if (id === 'b') throw new Error('no')
      }),
    ),
  )
  assert.deepEqual(reported, [['a'], ['c']])
})

test('D-466: those that wait for nothing share a commit without savepoints', async (t) => {
  const { path, inOneTurn, inShared, committed } = await openRows(t)
  const prepared = t.mock.method(DatabaseSync.prototype, 'prepare')
  const before = commitsIn(path)
  await Promise.all(upTo(8).map((n) => inOneTurn(insertNow(n))))
  assert.equal(commitsIn(path) - before, 1)
  assert.deepEqual(committed(), upTo(8))
  const savepoints = () =>
    prepared.mock.calls.filter(({ arguments: [text] }) => /savepoint/.test(String(text))).length
  assert.equal(savepoints(), 0)
  await Promise.all([inOneTurn(insertNow(8)), inShared(insert(9))])
  assert.equal(savepoints(), 1)
  assert.deepEqual(committed(), upTo(10))
})

for (const [beside, further] of [
  ['others of its kind', []],
  ['one that may not be repeated', [5]],
] as const) {
  test(`D-466: one that fails beside ${beside} fails alone`, async (t) => {
    const { inOneTurn, inShared, committed } = await openRows(t)
    await inShared(insert(0))
    const runs: number[] = []
    const repeatable = [2, 3, 4].map((n) =>
      inOneTurn((tx) => {
        insertNow(n)(tx)
        if (n === 3) insertNow(0)(tx)
        return n
      }),
    )
    const others = further.map((n) =>
      inShared(async (tx) => {
        runs.push(n)
        await insert(n)(tx)
        return n
      }),
    )
    const outcomes = await Promise.allSettled([...repeatable, ...others])
    assert.deepEqual(
      outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
      [2, 'UNIQUE constraint failed: rows.n', 4, ...further],
    )
    assert.deepEqual(committed(), [0, 2, 4, ...further])
    assert.deepEqual(runs, further)
  })
}

test('D-466: if the commit fails, none is repeated', async (t) => {
  const { inOneTurn, onSync } = await openRows(t)
  onSync(() => Promise.reject(new Error('EIO')))
  const runs: number[] = []
  const outcomes = await Promise.allSettled(
    upTo(3).map((n) =>
      inOneTurn((tx) => {
        runs.push(n)
        insertNow(n)(tx)
      }),
    ),
  )
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnavailable)
  }
  assert.deepEqual(runs, upTo(3))
})
