import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Compilable, type Kysely, sql } from 'kysely'
import { fixedQuery } from './fixed-query.ts'
import { openMigrated } from './open.ts'
import type { Tables } from './tables.ts'

test('D-280: a query is built once for a database, and bound to the values of each run', async (t) => {
  const [one, other] = await Promise.all(
    [0, 1].map(() => openMigrated({ kind: 'sqlite', path: ':memory:' })),
  )
  assert.ok(one && other)
  t.after(() => Promise.all([one.db.destroy(), other.db.destroy()]))
  let built = 0
  const both = fixedQuery((db, { a, b }: { a: string; b: number | null }) => {
    built += 1
    const values = sql<{ a: string; b: number | null; again: string }>`
      select ${a} as a, ${b} as b, ${a} as again
    `
    return { compile: () => values.compile(db) } as Compilable<{ a: string; again: string }>
  })
  const run = async (db: Kysely<Tables>, a: string, b: number | null) => ({
    ...(await both.first(db, { a, b })),
  })
  assert.deepEqual(await run(one.db, "x' or 1=1", 1), {
    a: "x' or 1=1",
    b: 1,
    again: "x' or 1=1",
  })
  assert.deepEqual(await run(one.db, 'y', null), { a: 'y', b: null, again: 'y' })
  await one.db.transaction().execute(async (tx) => {
    assert.deepEqual(await run(tx, 'z', 3), { a: 'z', b: 3, again: 'z' })
  })
  assert.equal(built, 1)
  await run(other.db, 'y', 2)
  assert.equal(built, 2, 'another database may have another text')
})
