/**
 * What only PostgreSQL can get wrong: late commits, connections that die, numbers of 64 bits.
 */
import assert from 'node:assert/strict'
import { after as afterAll, type TestContext, test } from 'node:test'
import { Kysely, sql } from 'kysely'
import { Client } from 'pg'
import { Secret } from '../../src/base/secrets/secret.ts'
import { postgres } from '../../src/store/dialects/postgres.ts'
import { openStore, StoreUnavailable } from '../../src/store/open.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { postgresql } from './databases.ts'
import { anEnding } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const END_OTHERS = `
  select pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

test('an ending that commits late shows up below one that was seen already', async (t) => {
  // The reason why whoever follows the list re-reads an overlap.
  const { sessionEndings, transaction } = await (await postgresql.create(t)).open()
  const ids = async (after: number) =>
    (await sessionEndings.listAfter(after)).map((ending) => ending.subject)

  let seen = 0
  await transaction(async (tx) => {
    await tx.sessionEndings.insert(anEnding('late'))
    await sessionEndings.insert(anEnding('early'))
    const [early, ...more] = await sessionEndings.listAfter(0)
    assert.deepEqual([early?.subject, more], ['early', []])
    seen = early?.sequence ?? 0
  })
  assert.deepEqual(await ids(seen), [])
  assert.deepEqual(await ids(seen - 2), ['late', 'early'])
})

test('a connection that dies inside a transaction ends that transaction and nothing else', async (t) => {
  const database = await postgresql.create(t)
  const store = await database.open()
  const failing = store.transaction(async (tx) => {
    await tx.sessionEndings.insert(anEnding('a'))
    await database.query(END_OTHERS)
    await tx.sessionEndings.insert(anEnding('b'))
  })
  await assert.rejects(failing, /terminat|not queryable/i)
  assert.deepEqual(await store.sessionEndings.listAfter(0), [])
})

test('idle connections that die are replaced', async (t) => {
  const database = await postgresql.create(t)
  const store = await database.open()
  await Promise.all([1, 2, 3].map((i) => store.sessionEndings.insert(anEnding(`${i}`))))
  await database.query(END_OTHERS)
  // The first call may still meet a connection whose end has not been noticed.
  await store.sessionEndings.listAfter(0).catch(() => undefined)
  assert.equal((await store.sessionEndings.listAfter(0)).length, 3)
})

test('limits the time of transactions, statements and waits for locks, as far as the server can', async (t) => {
  const db = await connect(t)
  const { rows: versions } = await sql<{ version: number }>`
    select current_setting('server_version_num')::int as version`.execute(db)
  const limits = {
    // D-302: PostgreSQL has it since version 17.
    transaction_timeout: (versions[0]?.version ?? 0) >= 170_000 ? '30s' : undefined,
    statement_timeout: '4s',
    lock_timeout: '2s',
    idle_in_transaction_session_timeout: '30s',
  }
  for (const [limit, value] of Object.entries(limits)) {
    const { rows } = await sql<{ value: string | null }>`
      select current_setting(${limit}, true) as value`.execute(db)
    assert.deepEqual(rows, [{ value: value ?? null }], limit)
  }
})

test('a bigint is a number here, an error when it does not fit, and elsewhere what it was', async (t) => {
  const db = await connect(t)
  const read = (value: string) =>
    sql<{ value: unknown }>`select ${sql.raw(value)}::bigint as value`.execute(db)
  assert.deepEqual((await read('9007199254740991')).rows, [{ value: 9007199254740991 }])
  await assert.rejects(read('9007199254740992'), /too large/)

  const client = new Client({ connectionString: await freshUrl() })
  await client.connect()
  const { rows } = await client.query('select 1::bigint as value')
  await client.end()
  assert.deepEqual(rows, [{ value: '1' }])
})

test('a server that cannot be used is reported without the password', async () => {
  const url = await freshUrl()
  const change = (name: string, value: string) =>
    Object.assign(new URL(url), { [name]: value }).href
  const { host } = new URL(url)
  const cases: [url: string, message: RegExp][] = [
    [change('port', '1'), /^cannot use the database 127\.0\.0\.1:1\/latchkey_\w+: .*ECONNREFUSED/],
    [change('pathname', '/nowhere'), RegExp(`${host}/nowhere: database "nowhere" does not exist`)],
    [change('password', 'MARKER'), /password authentication failed/],
    [
      'postgres://MARKER:MARKER@[broken',
      /^cannot use the database of the given URL: it is not a URL/,
    ],
  ]
  for (const [wrong, message] of cases) {
    await assert.rejects(openStore({ kind: 'postgres', url: new Secret(wrong) }), (error) => {
      assert.ok(error instanceof StoreUnavailable)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /MARKER/)
      return true
    })
  }
})

async function freshUrl(): Promise<string> {
  return (await startPostgres()).freshDatabase()
}

async function connect(t: TestContext): Promise<Kysely<unknown>> {
  const db = new Kysely<unknown>({ dialect: postgres(new Secret(await freshUrl())).dialect })
  t.after(() => db.destroy())
  return db
}
