/** Damage in a SQLite file is found before it is used, in a bounded time. D-254. */
import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { milliseconds } from '../../src/base/time/duration.ts'
import { checkFile } from '../../src/store/dialects/sqlite/check.ts'
import { checkForDamage, StoreUnavailable } from '../../src/store/open.ts'
import { damageTable } from '../support/stores/damage-file.ts'
import { sqliteOnDisk } from './databases.ts'
import { anEnding } from './samples.ts'

async function filled(t: TestContext) {
  const database = await sqliteOnDisk.create(t)
  const store = await database.open()
  for (let i = 0; i < 50; i++) await store.sessionEndings.insert(anEnding(`ended-${i}`))
  return { ...database, store }
}

const WAYS: Record<string, { readonly small?: number }> = {
  'in this process': {},
  'in a process of its own, where the file is large': { small: 0 },
}

for (const [way, options] of Object.entries(WAYS)) {
  suite(way, () => {
    test('accepts an undamaged file, even while it is in use', async (t) => {
      const { path, store } = await filled(t)
      assert.equal(await checkFile(path, options), 'sound')
      await store.sessionEndings.insert(anEnding('later'))
      await store.close()
      assert.equal(await checkFile(path, options), 'sound')
    })

    test('finds a page that was overwritten', async (t) => {
      const { path, store } = await filled(t)
      await store.close()
      await damageTable(path, 'session_endings')
      const outcome = await checkFile(path, options)
      assert.ok(typeof outcome === 'object', String(outcome))
      assert.match(outcome.damage, /^(?:Tree|row|btree|database disk image) .*$/i)
    })
  })
}

test('stops after a bounded time', async (t) => {
  const { path } = await filled(t)
  assert.equal(await checkFile(path, { small: 0, limit: milliseconds(1) }), 'unfinished')
})

test('does not report or change a file that is missing or not a database', async (t) => {
  const { path } = await sqliteOnDisk.createEmpty(t)
  assert.equal(await checkForDamage({ kind: 'sqlite', path }), 'sound')
  assert.deepEqual(await readdir(dirname(path)), [])
  await writeFile(path, 'a letter to a friend, and certainly not a database'.repeat(100))
  assert.equal(await checkForDamage({ kind: 'sqlite', path }), 'sound')
})

test('does not open a damaged store', async (t) => {
  const { path, store } = await filled(t)
  await store.close()
  await damageTable(path, 'session_endings')
  await assert.rejects(checkForDamage({ kind: 'sqlite', path }), (error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.ok(error.message.startsWith(`the database ${path} is damaged (`), error.message)
    return true
  })
})

test('reports damage that is found later as an unavailable database', async (t) => {
  const { path, store, open } = await filled(t)
  await store.close()
  await damageTable(path, 'session_endings')
  const { sessionEndings } = await open()
  await assert.rejects(sessionEndings.listAfter(0), (error) => {
    assert.ok(error instanceof StoreUnavailable, String(error))
    assert.match(error.message, /malformed/)
    return true
  })
})
