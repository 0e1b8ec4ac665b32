/** What the driver costs beside the statements themselves: D-299, D-322, D-328. Counted on the wire, never measured. */
import assert from 'node:assert/strict'
import { after as afterAll, type TestContext, test } from 'node:test'
import { Kysely, sql } from 'kysely'
import { Client } from 'pg'
import { Secret } from '../../src/base/secrets/secret.ts'
import type { Store } from '../../src/domain/stores.ts'
import { postgres } from '../../src/store/dialects/postgres.ts'
import { openStore } from '../../src/store/open.ts'
import { startCable } from '../support/stores/cable.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { aBeginning, primaryOf, seedLogin } from './login-sample.ts'
import { aSpending, seedRefresh } from './refresh-sample.ts'
import { anEnding, aRefreshToken } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

async function openCounted(t: TestContext) {
  const url = await (await startPostgres()).freshDatabase()
  const cable = await startCable(t, url)
  const store = await openStore({ kind: 'postgres', url: new Secret(cable.url) })
  t.after(() => store.close())
  await store.sessionEndings.listAfter(0)
  cable.takeRoundTrips()
  const count = async (work: (store: Store) => Promise<unknown>) => {
    await work(store)
    return cable.takeRoundTrips()
  }
  return { url, store, count }
}

test('a statement is one round trip, and setting up its connection is not repeated', async (t) => {
  const { count } = await openCounted(t)
  for (let i = 0; i < 5; i++) {
    assert.equal(await count((store) => store.sessionEndings.insert(anEnding(`${i}`))), 1)
  }
})

test('a transaction is one round trip more than its statements', async (t) => {
  const { count } = await openCounted(t)
  const transaction = (inserts: number) =>
    count((store) =>
      store.transaction(async (tx) => {
        for (let i = 0; i < inserts; i++)
          await tx.sessionEndings.insert(anEnding(`${inserts}-${i}`))
      }),
    )
  assert.equal(await transaction(0), 0)
  assert.equal(await transaction(1), 2)
  assert.equal(await transaction(3), 4)
})

test('a refresh is two round trips: one reads what decides, one spends the token', async (t) => {
  const { store, count } = await openCounted(t)
  await count(seedRefresh)
  const { hash } = aRefreshToken()
  const refresh = (name: string) =>
    count(async () => {
      assert.ok(await store.refreshTokens.findOwned(hash))
      assert.equal(await store.spendRefreshToken(aSpending(name)), name)
    })
  assert.equal(await refresh('spent'), 2)
  assert.equal(await refresh('taken'), 2)
})

test('a code is spent, and its session begins, in one round trip', async (t) => {
  const { count } = await openCounted(t)
  await count((store) => seedLogin(store, primaryOf('password')))
  const begin = (outcome: string) =>
    count(async (store) => assert.equal(await store.beginSession(aBeginning(outcome)), outcome))
  assert.equal(await begin('begun'), 1)
  assert.equal(await begin('spent'), 1)
})

test('a transaction that fails rolls back with one round trip, and its connection is used again', async (t) => {
  const { store, count } = await openCounted(t)
  const failing = (fail: (store: Store) => Promise<unknown>) =>
    count((store) => assert.rejects(fail(store), /on purpose/))
  const late = failing((store) =>
    store.transaction(async (tx) => {
      await tx.sessionEndings.insert(anEnding('a'))
      throw new Error('on purpose')
    }),
  )
  assert.equal(await late, 2)
  const early = failing((store) => store.transaction(() => Promise.reject(new Error('on purpose'))))
  assert.equal(await early, 0)
  assert.deepEqual(await store.sessionEndings.listAfter(0), [])
})

test('a first statement that the server refuses leaves no transaction behind', async (t) => {
  const { db } = await openPlain(t)
  await sql`create table texts (text text not null)`.execute(db)
  const failing = db.transaction().execute(async (tx) => {
    await sql`insert into texts values (null)`.execute(tx)
  })
  await assert.rejects(failing, /not-null/)
  await sql`insert into texts values ('kept')`.execute(db)
  const { rows } = await sql`select text from texts`.execute(db)
  assert.deepEqual(rows, [{ text: 'kept' }])
})

test('statements that repeat are prepared once per connection, and others never', async (t) => {
  const { db } = await openPlain(t)
  const prepared = async () => {
    const found = sql<{ statement: string }>`select statement from pg_prepared_statements`
    return (await found.execute(db)).rows.map(({ statement }) => statement)
  }
  for (let i = 0; i < 10; i++) await sql`select ${i}::int as repeated`.execute(db)
  for (let i = 0; i < 10; i++) await sql`select ${sql.lit(i)} as other`.execute(db)
  assert.deepEqual(await prepared(), ['select $1::int as repeated'])
})

test('a prepared statement whose result a migration has changed fails as an unavailable database, and works again', async (t) => {
  const { url, store } = await openCounted(t)
  for (let i = 0; i < 5; i++) await store.sessionEndings.listAfter(0)
  const other = new Client({ connectionString: url })
  await other.connect()
  t.after(() => other.end())
  await other.query('alter table session_endings add column later text')
  await assert.rejects(store.sessionEndings.listAfter(0), /cached plan must not change result type/)
  assert.deepEqual(await store.sessionEndings.listAfter(0), [])
})

/** One connection. */
async function openPlain(t: TestContext) {
  const url = await (await startPostgres()).freshDatabase()
  const db = new Kysely<unknown>({
    dialect: postgres(new Secret(url), { maxConnections: 1 }).dialect,
  })
  t.after(() => db.destroy())
  return { db }
}
