/**
 * What only SQLite can get wrong: the file, its folder, its mode, and the lock that other processes hold.
 */
import assert from 'node:assert/strict'
import { chmod, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import { sqlite } from '../../src/store/dialects/sqlite.ts'
import { openStore, StoreUnavailable } from '../../src/store/open.ts'
import { sqliteOnDisk } from './databases.ts'
import { anEnding } from './samples.ts'

test('the database and the files beside it are for their owner alone', async (t) => {
  const { path, open } = await sqliteOnDisk.createEmpty(t)
  await (await open()).sessionEndings.insert(anEnding('a'))
  const folder = dirname(path)
  const files = await readdir(folder)
  assert.deepEqual(files.sort(), ['latchkey.db', 'latchkey.db-shm', 'latchkey.db-wal'])
  for (const file of files) assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600)
})

test('references are kept, and the WAL is synced by us', async (t) => {
  const { path } = await sqliteOnDisk.createEmpty(t)
  const db = new Kysely<unknown>({ dialect: sqlite(path).dialect })
  t.after(() => db.destroy())
  const setting = async (name: string) => {
    const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db)
    return rows[0]?.[name]
  }
  assert.equal(await setting('journal_mode'), 'wal')
  assert.equal(await setting('synchronous'), 1) // NORMAL, see durability.test.ts
  assert.equal(await setting('fullfsync'), 1)
  assert.equal(await setting('checkpoint_fullfsync'), 1)
  assert.equal(await setting('foreign_keys'), 1)
})

test('a database in a folder that does not exist is refused', async (t) => {
  const { path } = await sqliteOnDisk.createEmpty(t)
  const missing = join(dirname(path), 'missing', 'latchkey.db')
  await assert.rejects(openStore({ kind: 'sqlite', path: missing }), (error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.equal(error.message, `the folder of the database ${missing} does not exist`)
    return true
  })
})

test('a file that is not a database is refused and left as it is', async (t) => {
  const { path, open } = await sqliteOnDisk.createEmpty(t)
  await writeFile(path, 'a letter to a friend, and certainly not a database'.repeat(100))
  const { size } = await stat(path)
  await assert.rejects(open(), (error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.equal(error.message, `${path} is not a database of Latchkey`)
    return true
  })
  assert.equal((await stat(path)).size, size)
})

test('D-472: a SQLite that can lose commits of several processes is refused', async (t) => {
  const { path, open } = await sqliteOnDisk.createEmpty(t)
  const get = StatementSync.prototype.get
  const old = t.mock.method(StatementSync.prototype, 'get', function (this: StatementSync) {
    if (!this.sourceSQL.includes('sqlite_version')) return Reflect.apply(get, this, [])
    return { version: '3.50.4' }
  })
  await assert.rejects(open(), (error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.match(error.message, /^Node v\S+ has SQLite 3\.50\.4, .*SQLite 3\.51\.3 or newer$/)
    return true
  })
  old.mock.restore()
  assert.ok((await stat(path)).isFile())
  await open()
})

test('a path that cannot be opened is refused with its reason', async (t) => {
  const { path } = await sqliteOnDisk.createEmpty(t)
  await assert.rejects(openStore({ kind: 'sqlite', path: dirname(path) }), (error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.equal(error.message, `cannot use the database ${dirname(path)}: it is a folder`)
    return true
  })
})

const unlessRoot = { skip: process.getuid?.() === 0 && 'root may write everywhere' }

async function assertUnusable(path: string, why: string): Promise<void> {
  await assert.rejects(openStore({ kind: 'sqlite', path }), {
    name: 'StoreUnavailable',
    message: `cannot use the database ${path}: ${why}; run this as its owner, or correct its owner (chown) or mode (chmod)`,
  })
}

test('a file that this user may not write is refused with that reason', unlessRoot, async (t) => {
  const { path, open } = await sqliteOnDisk.createEmpty(t)
  await (await open()).close()
  await chmod(path, 0o400)
  await assertUnusable(path, 'this user may not read and write it')
})

test(
  'a folder in which this user may not create files is refused with that reason',
  unlessRoot,
  async (t) => {
    const { path, open } = await sqliteOnDisk.createEmpty(t)
    await (await open()).close()
    const folder = dirname(path)
    await chmod(folder, 0o500)
    try {
      await assertUnusable(path, `this user may not create files in ${folder}, as SQLite must`)
    } finally {
      await chmod(folder, 0o700)
    }
  },
)

test('a WAL that this user may not read is named in the refusal', unlessRoot, async (t) => {
  const { path, open } = await sqliteOnDisk.createEmpty(t)
  await (await open()).close()
  await writeFile(`${path}-wal`, 'left behind')
  await chmod(`${path}-wal`, 0o000)
  await assertUnusable(path, `this user may not read and write ${path}-wal`)
})

test('a call waits while another process writes, without blocking this process', async (t) => {
  const { path, open } = await sqliteOnDisk.createEmpty(t)
  const store = await open()
  const other = new DatabaseSync(path)
  t.after(() => other.close())

  other.exec('begin immediate')
  let isDone = false
  const begun = performance.now()
  const writing = store
    .transaction((tx) => tx.sessionEndings.insert(anEnding('a')))
    .then(() => {
      isDone = true
    })
  for (let turn = 0; turn < 100; turn++) await setImmediate()
  // If SQLite itself waited, this whole process would be blocked for seconds.
  assert.ok(performance.now() - begun < 4_000)
  assert.equal(isDone, false)

  other.exec('commit')
  await writing
  assert.equal((await store.sessionEndings.listAfter(0)).length, 1)
})

test('a write that waits for another process does not keep the reads of this one waiting', async (t) => {
  const { path, open } = await sqliteOnDisk.create(t)
  const store = await open()
  const other = new DatabaseSync(path)
  t.after(() => other.close())

  other.exec('begin immediate')
  const writing = store.transaction((tx) => tx.sessionEndings.insert(anEnding('a')))
  for (let turn = 0; turn < 5; turn++) {
    assert.deepEqual(await store.sessionEndings.listAfter(0), [])
    await setImmediate()
  }
  other.exec('commit')
  await writing
  assert.equal((await store.sessionEndings.listAfter(0)).length, 1)
})
