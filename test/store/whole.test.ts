/**
 * Whole databases: the list of tables against the database itself, and what a copy keeps. D-158, D-159, D-160. The
 * commands are in test/process.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import { moveWhole } from '../../src/store/whole/move-whole.ts'
import { readWhole } from '../../src/store/whole/read-whole.ts'
import { NUMBERED, OF_ONE_EPOCH, TABLES } from '../../src/store/whole/table-order.ts'
import { OccupiedDatabase, writeWhole } from '../../src/store/whole/write-whole.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { postgresql, SHARED, sqliteOnDisk } from './databases.ts'
import { after as afterNoon, anEnding, anIdentity, hash } from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const LISTS = {
  'SQLite on disk': `select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`,
  PostgreSQL: `select table_name as name from information_schema.tables where table_schema = 'public'`,
}

const REFERENCES = {
  'SQLite on disk': `select m.name as "from", f."table" as "to" from sqlite_master m, pragma_foreign_key_list(m.name) f`,
  PostgreSQL: `select conrelid::regclass::text as "from", confrelid::regclass::text as "to" from pg_constraint where contype = 'f'`,
}

const LATER = afterNoon(100)
const SECRET = { secretFingerprint: hash('secret'), sealedHashingSecret: 'sealed' }

for (const kind of SHARED) {
  const name = kind.name as keyof typeof LISTS
  suite(kind.name, () => {
    test('every table is in the list, and referenced tables come before those that refer to them', async (t) => {
      const database = await kind.create(t)
      await database.open()
      const found = (await database.query(LISTS[name])).map((row) => row['name'])
      // The second describes the server and not the installation (D-296).
      const others = ['migrations', 'database_timelines']
      const listed = found.filter((table) => !others.includes(String(table)))
      assert.deepEqual(listed.sort(), [...TABLES].sort())
      const references = await database.query(REFERENCES[name])
      assert.ok(references.length >= 4, 'references are found')
      for (const { from, to } of references) {
        const [first, second] = [to, from].map((table) => TABLES.indexOf(table as never))
        assert.ok(Number(first) < Number(second), `${from} refers to ${to}`)
      }
      for (const table of OF_ONE_EPOCH) assert.ok(TABLES.includes(table))
      for (const { table } of NUMBERED) assert.ok(TABLES.includes(table))
    })

    test('a snapshot does not see concurrent writes, and does not block them', async (t) => {
      const database = await kind.create(t)
      const store = await database.open()
      for (let i = 0; i < 1_200; i++) await store.sessionEndings.insert(anEnding(`before-${i}`))
      const subjects: unknown[] = []
      await readWhole(database.address, async (whole) => {
        assert.equal(await whole.count('session_endings'), 1_200)
        for await (const rows of whole.rows('session_endings')) {
          subjects.push(...rows.map((row) => row['subject']))
          await store.sessionEndings.insert(anEnding(`meanwhile-${subjects.length}`))
        }
        assert.equal(await whole.count('session_endings'), 1_200)
      })
      assert.equal(new Set(subjects).size, 1_200)
      assert.ok(subjects.every((subject) => String(subject).includes('before-')))
      assert.equal((await store.sessionEndings.listAfter(0)).length, 1_203)
    })

    test('what fails on the way changes nothing, and an installation is replaced only on demand', async (t) => {
      const database = await kind.create(t)
      const store = await database.open()
      await store.installation.insert({ ...SECRET, createdAt: 1 as never })
      await store.sessionEndings.insert(anEnding('of-before'))
      const nothing = async function* () {}
      const finish = async () => {}
      await assert.rejects(
        writeWhole(database.address, nothing, 'refuse', finish),
        OccupiedDatabase,
      )
      const broken = async function* () {
        yield { table: 'rule_versions' as const, rows: [{ id: 1, version: 7 }] }
        throw new Error('the file is broken')
      }
      await assert.rejects(writeWhole(database.address, broken, 'replace', finish), /is broken/)
      const failing = async () => {
        throw new Error('it cannot be finished')
      }
      await assert.rejects(writeWhole(database.address, nothing, 'replace', failing), /be finished/)
      assert.deepEqual(await store.installation.find(), SECRET)

      const content = async function* () {
        const rows = [{ sequence: 40, subject: 'session:x', at: 1, keep_until: 9_000_000_000_000 }]
        yield { table: 'session_endings' as const, rows }
      }
      await writeWhole(database.address, content, 'replace', finish)
      assert.equal(await store.installation.find(), undefined)
      // What the replaced database knew as ended stays ended, behind what has come.
      const endings = await store.sessionEndings.listAfter(0)
      assert.deepEqual(
        endings.map(({ subject }) => subject),
        ['session:x', anEnding('of-before').subject],
      )
      assert.ok(Number(endings[1]?.sequence) > 40)
    })
  })
}

test('a move keeps the numbers of endings and goes on after the highest, also when that row is gone', async (t) => {
  const databases = [
    await sqliteOnDisk.create(t),
    await postgresql.create(t),
    await sqliteOnDisk.create(t),
  ]
  const [first, second, third] = databases
  if (first === undefined || second === undefined || third === undefined) return
  const store = await first.open()
  await store.installation.insert({ ...SECRET, createdAt: 1 as never })
  await insertIdentity(store)
  await store.identities.markLogin(anIdentity().id, LATER)
  const identity = await store.identities.find(anIdentity().id)
  for (const one of ['a', 'b', 'c']) await store.sessionEndings.insert(anEnding(one))
  // The last one has expired and is removed: its number is used up all the same.
  await store.sessionEndings.insert(anEnding('gone', { keepUntil: 1 as never }))
  assert.equal(await store.sessionEndings.removeExpired(2 as never, 10), 1)
  const before = await store.sessionEndings.listAfter(0)
  assert.equal(before.length, 3)
  await store.close()
  const deps = { onRows() {}, record: async () => {} }
  await moveWhole(first.address, second.address, deps)
  await moveWhole(second.address, third.address, deps)
  const moved = await third.open()
  assert.deepEqual(await moved.sessionEndings.listAfter(0), before)
  assert.equal(identity?.lastLoginAt, LATER)
  assert.deepEqual(await moved.identities.find(anIdentity().id), identity)
  await moved.sessionEndings.insert(anEnding('d'))
  const after = await moved.sessionEndings.listAfter(0)
  assert.ok(Number(after.at(-1)?.sequence) > Number(before.at(-1)?.sequence) + 1)
  assert.equal(await moved.installation.findMove(), undefined)
  const old = await second.open()
  assert.match((await old.installation.findMove()) ?? '', /latchkey\.db$/)
})
