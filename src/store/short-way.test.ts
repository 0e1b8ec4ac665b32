import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { fixedQuery } from './fixed-query.ts'
import { openMigrated } from './open.ts'
import { inTransaction } from './short-way.ts'

const COUNT = fixedQuery((db, _: object) =>
  db.selectFrom('migrations' as never).select(({ fn }) => fn.countAll<number>().as('count')),
)

test('D-281: what a transaction did is committed, or rolled back if it throws', async (t) => {
  const { db } = await openMigrated({ kind: 'sqlite', path: ':memory:' })
  t.after(() => db.destroy())
  const count = async () => (await COUNT.first(db, {}))?.count ?? 0
  const before = await count()
  const insert = (name: string) => sql`insert into migrations (name) values (${name})`

  const failure = new Error('of the work')
  const failed = inTransaction(db, async (tx) => {
    await insert('one').execute(tx)
    assert.equal((await COUNT.first(tx, {}))?.count, before + 1, 'it sees what it wrote')
    throw failure
  })
  await assert.rejects(failed, failure)
  assert.equal(await count(), before)

  const outcome = await inTransaction(db, async (tx) => {
    await insert('one').execute(tx)
    return 'done'
  })
  assert.equal(outcome, 'done')
  assert.equal(await count(), before + 1)
})

test('D-281: statements outside wait while a transaction is open', async (t) => {
  const { db } = await openMigrated({ kind: 'sqlite', path: ':memory:' })
  t.after(() => db.destroy())
  const order: string[] = []
  const open = inTransaction(db, async (tx) => {
    await COUNT.first(tx, {})
    const outside = COUNT.first(db, {}).then(() => order.push('outside'))
    await new Promise((resolve) => setImmediate(resolve))
    await COUNT.first(tx, {})
    order.push('inside')
    return { outside }
  })
  await (await open).outside
  assert.deepEqual(order, ['inside', 'outside'])
})
