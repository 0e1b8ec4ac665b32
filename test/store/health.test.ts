/** What health checks and metrics ask of the store, on every database: a commit of its own, and how many sessions live. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after as afterAll, suite, test } from 'node:test'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, postgresql, sqliteOnDisk } from './databases.ts'
import { after, aLegacySession, aSession, hash, NOON, sessionId } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const ROW = {
  secretFingerprint: hash('secret'),
  sealedHashingSecret: 'sealed',
  createdAt: NOON,
} as const

for (const database of ALL) {
  suite(database.name, () => {
    test('a touch leaves the installation as it was, however many there are at once', async (t) => {
      const { installation } = await (await database.create(t)).open()
      await installation.insert(ROW)
      const before = await installation.find()
      await Promise.all(Array.from({ length: 20 }, () => installation.touch()))
      assert.deepEqual(await installation.find(), before)
    })

    test('live sessions are counted by kind; expired ones are not', async (t) => {
      const { apiSessions } = await (await database.create(t)).open()
      assert.deepEqual(await apiSessions.countLive(NOON), { oidc: 0, legacy: 0 })
      const ends = [1_000, 2_000, 3_000]
      for (const [i, end] of ends.entries()) {
        await apiSessions.insert(aSession({ id: sessionId(`o${i}`), expiresAt: after(end) }))
      }
      await apiSessions.insert(
        aLegacySession({ id: sessionId('l'), tokenHash: hash('l'), expiresAt: after(2_000) }),
      )
      assert.deepEqual(await apiSessions.countLive(NOON), { oidc: 3, legacy: 1 })
      assert.deepEqual(await apiSessions.countLive(after(999)), { oidc: 3, legacy: 1 })
      assert.deepEqual(await apiSessions.countLive(after(1_000)), { oidc: 2, legacy: 1 })
      assert.deepEqual(await apiSessions.countLive(after(2_000)), { oidc: 1, legacy: 0 })
    })
  })
}

test('a touch is a commit of PostgreSQL: the row gets a new version', async (t) => {
  const database = await postgresql.create(t)
  const { installation } = await database.open()
  await installation.insert(ROW)
  const version = async () => (await database.query('select xmin::text from installation'))[0]
  const before = await version()
  await installation.touch()
  assert.notDeepEqual(await version(), before)
})

test('a touch is a commit of SQLite: others see that the file has changed', async (t) => {
  const database = await sqliteOnDisk.create(t)
  const { installation } = await database.open()
  await installation.insert(ROW)
  const other = new DatabaseSync(database.path)
  t.after(() => other.close())
  const version = () => other.prepare('pragma data_version').get()?.['data_version']
  const before = version()
  assert.equal(version(), before)
  await installation.touch()
  assert.notEqual(version(), before)
})
