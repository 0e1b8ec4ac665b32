/**
 * D-278: a commit in SQLite is answered after its sync. The tests replace the system call, so they see the order of
 * commit, sync and answer, fail a sync, and cut the power at any moment.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { StoreUnavailable } from '../../src/errors/store-unavailable.ts'
import { rounds } from '../support/chance/rounds.ts'
import { eventually } from '../support/eventually.ts'
import { heldSyncs, openRows, openSynced, type Rows, rowsIn } from './synced-rows.ts'

for (const [name, write] of [
  ['a statement', (db: Kysely<Rows>, n: number) => db.insertInto('rows').values({ n }).execute()],
  [
    'a statement that returns rows',
    (db: Kysely<Rows>, n: number) => db.insertInto('rows').values({ n }).returning('n').execute(),
  ],
  [
    'a transaction',
    (db: Kysely<Rows>, n: number) =>
      db.transaction().execute((tx) => tx.insertInto('rows').values({ n }).execute()),
  ],
] as const) {
  test(`${name}: commit, then sync, then answer`, async (t) => {
    const { db, onSync, committed } = await openRows(t)
    const { nth } = heldSyncs(onSync)
    let isAnswered = false
    const writing = write(db, 1).then(() => {
      isAnswered = true
    })
    const sync = await nth(1)
    assert.deepEqual(committed(), [1])
    // Reading needs the connection, and so comes after whatever could have answered.
    assert.equal((await db.selectFrom('rows').selectAll().execute()).length, 1)
    assert.equal(isAnswered, false)
    sync.resolve()
    await writing
  })
}

test('commits that wait at the same time share a sync', async (t) => {
  const { onSync, insert, committed } = await openRows(t)
  const { held, nth } = heldSyncs(onSync)
  const writing = [insert(0)]
  const first = await nth(1)
  for (let n = 1; n <= 20; n++) writing.push(insert(n))
  await eventually(() => (committed().length === 21 ? true : undefined), 'all commits')
  first.resolve()
  ;(await nth(2)).resolve()
  await Promise.all(writing)
  assert.equal(held.length, 2)
})

test('a statement that changed nothing waits for the commit that it saw', async (t) => {
  const { db, onSync, insert } = await openRows(t)
  const { held, nth } = heldSyncs(onSync)
  const first = insert(1)
  const sync = await nth(1)
  let isAnswered = false
  const second = db
    .deleteFrom('rows')
    .where('n', '=', 2)
    .execute()
    .then(() => {
      isAnswered = true
    })
  await db.selectFrom('rows').selectAll().execute()
  assert.equal(isAnswered, false)
  sync.resolve()
  await Promise.all([first, second])
  assert.equal(held.length, 1)
})

for (const [name, work] of [
  ['a statement', (db: Kysely<Rows>) => db.deleteFrom('rows').where('n', '=', 2).execute()],
  [
    'a transaction',
    (db: Kysely<Rows>) =>
      db.transaction().execute((tx) => tx.selectFrom('rows').selectAll().execute()),
  ],
] as const) {
  test(`D-471: ${name} that changed nothing waits until what another process committed is on the disk`, async (t) => {
    // Two workers: one has committed a logout and waits for the disk, the other finds the session ended and answers.
    const { path, onSync, insert } = await openRows(t)
    const other = openSynced(t, path)
    await work(other.db)
    const one = heldSyncs(onSync)
    const first = insert(1)
    const sync = await one.nth(1)

    const { held, nth } = heldSyncs(other.onSync)
    let isAnswered = false
    const second = work(other.db).then(() => {
      isAnswered = true
    })
    await setTimeout(20)
    const wasAnswered = isAnswered
    sync.resolve()
    await first
    assert.equal(wasAnswered, false)
    ;(await nth(1)).resolve()
    await second

    // What is on the disk is not synced again.
    await work(other.db)
    assert.equal(held.length, 1)
  })
}

test('D-471: what a process has left that was killed is on the disk before the next one answers', async (t) => {
  const { path, onSync, insert } = await openRows(t)
  const one = heldSyncs(onSync)
  const first = insert(1)
  const sync = await one.nth(1)
  const next = openSynced(t, path)
  const { held, nth } = heldSyncs(next.onSync)
  const read = next.db.selectFrom('rows').selectAll().execute()
  ;(await nth(1)).resolve()
  assert.equal((await read).length, 1)
  assert.equal(held.length, 1)
  sync.resolve()
  await first
})

test('a failed sync is an error for everyone who waits, and nothing is written after it', async (t) => {
  const { db, onSync, insert, committed } = await openRows(t)
  const { held, nth } = heldSyncs(onSync)
  const writing = [insert(1)]
  const first = await nth(1)
  writing.push(insert(2))
  await eventually(() => (committed().length === 2 ? true : undefined), 'both commits')
  first.reject(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }))
  for (const outcome of await Promise.allSettled(writing)) {
    assert.equal(outcome.status, 'rejected')
    assert.ok(outcome.reason instanceof StoreUnavailable, String(outcome.reason))
    assert.match(outcome.reason.message, /^the disk does not accept what was written to .*-wal/)
  }
  await assert.rejects(insert(3), StoreUnavailable)
  await assert.rejects(
    db.transaction().execute((tx) => tx.insertInto('rows').values({ n: 4 }).execute()),
    StoreUnavailable,
  )
  assert.equal(held.length, 1)
  assert.deepEqual(committed(), [1, 2])
  assert.equal((await db.selectFrom('rows').selectAll().execute()).length, 2)
})

test('a failed sync does not roll back the transaction of another caller', async (t) => {
  const { db, onSync } = await openRows(t)
  const { nth } = heldSyncs(onSync)
  const first = db.transaction().execute((tx) => tx.insertInto('rows').values({ n: 1 }).execute())
  const sync = await nth(1)
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const second = db.transaction().execute(async (tx) => {
    await sql`select 1`.execute(tx)
    begun.resolve()
    await gate.promise
    return tx.selectFrom('rows').selectAll().execute()
  })
  await begun.promise
  sync.reject(new Error('EIO'))
  await assert.rejects(first, StoreUnavailable)
  gate.resolve()
  // It still runs as a transaction; its commit fails, because the disk has.
  await assert.rejects(second, StoreUnavailable)
})

test('what was answered is there after a power cut', async (t) => {
  for (let round = 1; round <= rounds(8); round++) {
    const { db, path, onSync, insert, inShared } = await openRows(t)
    let durable = { database: readFileSync(path), wal: readFileSync(`${path}-wal`) }
    onSync(async () => {
      // What the disk certainly has when the sync is done; what is written meanwhile may be missing.
      const image = { database: readFileSync(path), wal: readFileSync(`${path}-wal`) }
      await setTimeout(Math.random() * 2)
      durable = image
    })
    const answered: number[] = []
    let isOn = true
    let last = 0
    const write = async () => {
      while (isOn) {
        const n = ++last
        await (n % 2 === 0
          ? insert(n)
          : inShared((tx) => tx.insertInto('rows').values({ n }).execute()))
        if (isOn) answered.push(n)
      }
    }
    const writers = Array.from({ length: 8 }, write)
    const wanted = 1 + Math.floor(Math.random() * 400)
    await eventually(() => (answered.length >= wanted ? true : undefined), `${wanted} commits`)
    isOn = false
    const { database, wal } = durable
    const expected = [...answered]
    // Of what was not synced, any part may have reached the disk.
    const now = readFileSync(`${path}-wal`).subarray(wal.length)
    const rest = now.subarray(0, Math.floor(Math.random() * now.length))

    const copy = join(await mkdtemp(join(dirname(path), 'cut-')), 'latchkey.db')
    await writeFile(copy, database)
    await writeFile(`${copy}-wal`, Buffer.concat([wal, rest]))
    const found = new Set(rowsIn(copy))
    for (const n of expected)
      assert.ok(found.has(n), `round ${round}: ${n} was answered and is lost`)
    await Promise.all(writers)
    await db.destroy()
  }
})
