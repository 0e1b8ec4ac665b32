/** When the system reports writes to a SQLite file, and when a process has to check the file itself. D-364. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { SqliteNotices } from './notices.ts'
import { SqliteVersion } from './version.ts'

/** A file system that reports what the test says, and a clock that it moves. */
function world() {
  let now = 0
  let version: unknown = 1
  let told = 0
  let begun = 0
  let report: (() => void) | undefined
  const notices = new SqliteNotices(
    '/db',
    (path, onWrite) => {
      assert.equal(path, '/db-wal')
      begun += 1
      report = onWrite
      const close = () => {
        report = undefined
      }
      return { close }
    },
    () => now,
  )
  notices.follow(() => {
    told += 1
  })
  return {
    notices,
    told: () => told,
    begun: () => begun,
    report: () => report?.(),
    set: (to: unknown) => {
      version = to
    },
    /** One look after this time. */
    look(after: number): unknown {
      now += after
      return notices.judge(version, () => version)
    },
    /** One look after this time, right after which another version is committed. */
    lookDuringCommit(after: number, next: unknown): unknown {
      now += after
      const before = version
      version = next
      return notices.judge(before, () => version)
    },
  }
}

test('D-364: watches after two quiet seconds, and tells of one write', () => {
  const { notices, told, report, set, look } = world()
  look(0)
  look(1_900)
  assert.equal(notices.isPushed(), false)
  look(100)
  assert.equal(notices.isPushed(), true)
  assert.equal(notices.isProven(), false)
  set(2)
  report()
  report()
  assert.equal(told(), 1)
  assert.equal(notices.isPushed(), false)
  assert.equal(notices.isProven(), true)
  assert.equal(look(50), 2)
  look(1_900)
  assert.equal(notices.isPushed(), false)
  look(400)
  assert.equal(notices.isPushed(), true)
})

test('D-364: while something is committed all the time, nothing is watched', () => {
  const { begun, set, look } = world()
  for (let i = 0; i < 100; i++) {
    set(i)
    look(400)
  }
  assert.equal(begun(), 0)
})

// The system reports only what is written after the watch began.
test('D-364: sees what is committed between the look and the begin of the watch', () => {
  const { notices, lookDuringCommit, look } = world()
  look(0)
  look(1_999)
  assert.equal(lookDuringCommit(1, 2), 2)
  assert.equal(notices.isPushed(), false)
  assert.equal(look(400), 2)
  look(2_000)
  assert.equal(notices.isPushed(), true)
})

test('D-364: on a file system that reports nothing, it looks by itself', () => {
  const { notices, begun, set, look } = world()
  look(0)
  look(2_000)
  assert.equal(notices.isPushed(), true)
  set(2)
  assert.equal(look(1_000), 2)
  assert.equal(notices.isPushed(), false)
  for (let i = 0; i < 20; i++) look(400)
  assert.equal(notices.isPushed(), false)
  assert.equal(begun(), 1)
})

test('D-364: reports that end later are noticed, too', () => {
  const { notices, report, set, look } = world()
  look(0)
  look(2_000)
  set(2)
  report()
  look(50)
  look(2_000)
  assert.equal(notices.isPushed(), true)
  set(3)
  assert.equal(look(2_000), 3)
  look(500)
  assert.equal(notices.isProven(), false)
  assert.equal(notices.isPushed(), false)
})

test('D-364: a report that arrives after the look that saw the commit is in time', () => {
  const { notices, report, set, look } = world()
  look(0)
  look(2_000)
  set(2)
  look(1_000)
  report()
  for (let i = 0; i < 6; i++) look(400)
  assert.equal(notices.isPushed(), true)
})

test('D-364: the system reports the commit of another connection', async (t) => {
  const { path, write } = openFile(t)
  let now = 0
  const notices = new SqliteNotices(path, undefined, () => now)
  const told = Promise.withResolvers<void>()
  notices.follow(told.resolve)
  const version = new SqliteVersion(path, notices)
  t.after(() => version.close())
  const before = version.current()
  now = 2_000
  assert.equal(version.current(), before)
  assert.equal(notices.isPushed(), true)
  write()
  await told.promise
  assert.notEqual(version.current(), before)
})

function openFile(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-notices-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'db')
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  database.exec('pragma journal_mode = wal; create table t (n)')
  return { path, write: () => database.exec('insert into t values (1)') }
}
