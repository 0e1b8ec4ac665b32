/**
 * A failure of the database is one kind of error on every database: StoreUnavailable, so that a call is answered with
 * 503 and not as an error of this program or of the caller. D-250.
 */
import assert from 'node:assert/strict'
import { rename, rm, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import { Kysely, sql } from 'kysely'
import { Client } from 'pg'
import { Secret } from '../../src/base/secrets/secret.ts'
import { guarded } from '../../src/store/dialects/guarded.ts'
import { sqlite } from '../../src/store/dialects/sqlite.ts'
import { openStore, StoreUnavailable } from '../../src/store/open.ts'
import { eventually } from '../support/eventually.ts'
import { startCable } from '../support/stores/cable.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { postgresql, SHARED, sqliteOnDisk } from './databases.ts'
import { aPasskey } from './passkey-sample.ts'
import { anEnding, anEnrollment, anIdentity } from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

async function assertUnavailable(work: Promise<unknown>, reason: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof StoreUnavailable, String(error))
    assert.match(error.message, reason)
    return true
  })
}

const END_OTHERS = `
  select pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

for (const kind of SHARED) {
  suite(kind.name, () => {
    test('a row that refers to one that was deleted meanwhile: a retry finds out (D-284)', async (t) => {
      const store = await (await kind.create(t)).open()
      await insertIdentity(store)
      const { id } = anIdentity()
      await store.identities.remove(id)
      const late = [
        store.totpEnrollments.replacePending(anEnrollment(), []),
        store.transaction((tx) => tx.passkeys.insert(aPasskey())),
      ]
      for (const write of late) await assertUnavailable(write, /foreign key constraint/i)
      assert.equal(await store.totpEnrollments.find(id), undefined)
      assert.deepEqual(await store.passkeys.listOf(id), [])
    })

    test('a statement that the database refuses is a bug, not an unavailable database', async (t) => {
      const database = await kind.create(t)
      const { sessionEndings } = await database.open()
      await database.query('drop table session_endings')
      await assert.rejects(sessionEndings.listAfter(0), (error) => {
        assert.ok(!(error instanceof StoreUnavailable), String(error))
        return true
      })
    })
  })
}

suite('PostgreSQL', () => {
  async function openCabled(t: TestContext) {
    const cable = await startCable(t, await (await startPostgres()).freshDatabase())
    const store = await openStore({ kind: 'postgres', url: new Secret(cable.url) })
    t.after(() => store.close())
    return { cable, store }
  }

  test('a reset connection and a refused one', async (t) => {
    const { cable, store } = await openCabled(t)
    const failing = store.transaction(async (tx) => {
      await tx.sessionEndings.insert(anEnding('a'))
      cable.pull()
      await tx.sessionEndings.insert(anEnding('b'))
    })
    await assertUnavailable(failing, /terminated|ECONNRESET|not queryable/)
    await assertUnavailable(store.sessionEndings.listAfter(0), /terminated|ECONNRESET|socket/i)
    cable.repair()
    assert.deepEqual(await store.sessionEndings.listAfter(0), [])
  })

  test('a commit whose answer never comes', async (t) => {
    const { cable, store } = await openCabled(t)
    const failing = store.transaction(async (tx) => {
      await tx.sessionEndings.insert(anEnding('a'))
      cable.silence()
    })
    await assertUnavailable(failing, /the server does not answer/)
    cable.renew()
    assert.deepEqual(await store.sessionEndings.listAfter(0), [])
  })

  test('closing does not wait for a server that does not respond', async (t) => {
    const { cable, store } = await openCabled(t)
    await Promise.all([store.sessionEndings.listAfter(0), store.sessionEndings.listAfter(0)])
    const asking = Promise.withResolvers<void>()
    const failing = store.transaction(async (tx) => {
      await tx.sessionEndings.listAfter(0)
      cable.silence()
      const answer = tx.sessionEndings.listAfter(0)
      asking.resolve()
      await answer
    })
    const waiting = assertUnavailable(failing, /terminated/)
    await asking.promise
    await store.close()
    await waiting
  })

  test('a server that shuts down', async (t) => {
    const database = await postgresql.create(t)
    const store = await database.open()
    const failing = store.transaction(async (tx) => {
      await tx.sessionEndings.insert(anEnding('a'))
      await database.query(END_OTHERS)
      await tx.sessionEndings.insert(anEnding('b'))
    })
    await assertUnavailable(failing, /terminat|not queryable/)
  })

  test('a read-only server, such as a standby', async (t) => {
    const database = await postgresql.create(t)
    const store = await database.open()
    const name = new URL(database.url).pathname.slice(1)
    await database.query(`alter database "${name}" set default_transaction_read_only = on`)
    await database.query(END_OTHERS)
    await store.sessionEndings.listAfter(0).catch(() => undefined)
    await assertUnavailable(store.sessionEndings.insert(anEnding('a')), /read-only transaction/)
  })

  test('a database that was dropped', async (t) => {
    const database = await postgresql.create(t)
    const store = await database.open()
    const name = new URL(database.url).pathname.slice(1)
    const admin = new Client({ connectionString: (await startPostgres()).url })
    await admin.connect()
    t.after(() => admin.end())
    await admin.query(`drop database "${name}" with (force)`)
    await store.sessionEndings.listAfter(0).catch(() => undefined)
    await assertUnavailable(store.sessionEndings.listAfter(0), /does not exist/)
    // The one that the test itself deletes afterwards.
    await admin.query(`create database "${name}"`)
  })

  test('connections that are all in use', async (t) => {
    const { url } = await postgresql.create(t)
    const address = { kind: 'postgres', url: new Secret(url), maxConnections: 1 } as const
    const store = await openStore(address)
    t.after(() => store.close())
    await store.transaction(async () => {
      await assertUnavailable(store.sessionEndings.listAfter(0), /timeout exceeded/)
    })
    assert.deepEqual(await store.sessionEndings.listAfter(0), [])
  })

  test('a lock that another session does not release', async (t) => {
    const database = await postgresql.create(t)
    const store = await database.open()
    const other = new Client({ connectionString: database.url })
    await other.connect()
    try {
      await other.query('begin')
      await other.query('lock table session_endings in exclusive mode')
      await assertUnavailable(store.sessionEndings.insert(anEnding('a')), /lock timeout/)
      await other.query('rollback')
      // For a second after such a wait, the statement fails at once (D-297).
      const insert = () => store.sessionEndings.insert(anEnding('a')).catch(() => undefined)
      await eventually(insert, 'an insert')
    } finally {
      await other.end()
    }
  })

  test('two transactions that wait for each other', async (t) => {
    const store = await (await postgresql.create(t)).open()
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const outcomes = await Promise.allSettled([
      store.transaction(async (tx) => {
        await tx.sessionEndings.insert(anEnding('a'))
        first.resolve()
        await second.promise
        await tx.sessionEndings.insert(anEnding('b'))
      }),
      store.transaction(async (tx) => {
        await tx.sessionEndings.insert(anEnding('b'))
        second.resolve()
        await first.promise
        await tx.sessionEndings.insert(anEnding('a'))
      }),
    ])
    const failed = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    assert.equal(failed.length, 1)
    await assertUnavailable(Promise.reject(failed[0]), /deadlock/)
  })
})

suite('SQLite', () => {
  async function openGuarded(t: TestContext) {
    const { path } = await sqliteOnDisk.createEmpty(t)
    const db = new Kysely<unknown>({ dialect: guarded(sqlite(path)) })
    t.after(() => db.destroy())
    await sql`create table texts (text text)`.execute(db)
    return {
      path,
      insert: (text: string) => sql`insert into texts values (${text})`.execute(db),
      db,
    }
  }

  test('a full disk', async (t) => {
    const { db, insert } = await openGuarded(t)
    await sql`pragma max_page_count = 10`.execute(db)
    await assertUnavailable(insert('x'.repeat(100_000)), /full/)
    await insert('x')
  })

  test('a read-only file', async (t) => {
    const { db, insert } = await openGuarded(t)
    await sql`pragma query_only = on`.execute(db)
    await assertUnavailable(insert('x'), /readonly/)
  })

  test('a file that another process keeps locked', async (t) => {
    const { path, insert } = await openGuarded(t)
    const other = new DatabaseSync(path)
    t.after(() => other.close())
    other.exec('begin immediate')
    await assertUnavailable(insert('x'), /locked/)
    other.exec('rollback')
    await insert('x')
  })

  test('a file that was deleted: nothing is written to it, and it may be put back', async (t) => {
    const { path, open } = await sqliteOnDisk.create(t)
    const { sessionEndings, transaction } = await open()
    await sessionEndings.insert(anEnding('before'))
    await rename(path, `${path}.moved`)
    const deleted = /^the database file .*latchkey\.db was deleted while it was in use; stop the/
    await assertUnavailable(sessionEndings.insert(anEnding('lost')), deleted)
    await assertUnavailable(
      transaction((tx) => tx.sessionEndings.insert(anEnding('lost'))),
      deleted,
    )
    await rename(`${path}.moved`, path)
    const subjects = (await sessionEndings.listAfter(0)).map(({ subject }) => subject)
    assert.deepEqual(subjects, ['before'])
  })

  test('a file that was deleted in the middle of a transaction', async (t) => {
    const { path, open } = await sqliteOnDisk.create(t)
    const { sessionEndings, transaction } = await open()
    const failing = transaction(async (tx) => {
      await tx.sessionEndings.insert(anEnding('lost'))
      await rename(path, `${path}.moved`)
    })
    await assertUnavailable(failing, /was deleted while it was in use/)
    await rename(`${path}.moved`, path)
    assert.deepEqual(await sessionEndings.listAfter(0), [])
  })

  test('a file that was replaced by another one', async (t) => {
    const { path, open } = await sqliteOnDisk.create(t)
    const { sessionEndings } = await open()
    await rename(path, `${path}.moved`)
    await writeFile(path, '', { mode: 0o600 })
    await assertUnavailable(sessionEndings.listAfter(0), /was replaced while it was in use/)
    await rm(path)
    await rename(`${path}.moved`, path)
  })
})
