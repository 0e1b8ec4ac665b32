/** The DPoP proofs that were used, on every database: each counts once, on all instances. D-450. */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { after, NOON } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const hash = (name: string) => `hash-${name}`

for (const database of ALL) {
  suite(database.name, () => {
    test('a proof counts once, and others are not touched by it', async (t) => {
      const { usedProofs } = await (await database.create(t)).open()
      assert.equal(await usedProofs.insert({ hash: hash('a'), expiresAt: NOON }), true)
      assert.equal(await usedProofs.insert({ hash: hash('a'), expiresAt: after(1) }), false)
      assert.equal(await usedProofs.insert({ hash: hash('b'), expiresAt: NOON }), true)
    })

    test('of fifty uses of one proof at once, one is the first', async (t) => {
      const stores = await openTwo(await database.create(t))
      const proof = { hash: hash('a'), expiresAt: NOON }
      const used = await Promise.all(
        Array.from({ length: 25 }).flatMap(() =>
          stores.map(({ usedProofs }) => usedProofs.insert(proof)),
        ),
      )
      assert.equal(used.length, 50)
      assert.equal(used.filter((isFirst) => isFirst).length, 1)
    })

    test('expired ones are removed a few at a time, oldest first', async (t) => {
      const { usedProofs } = await (await database.create(t)).open()
      for (const n of [3, 1, 2]) {
        await usedProofs.insert({ hash: hash(String(n)), expiresAt: after(n) })
      }
      assert.equal(await usedProofs.removeExpired(after(3), 1), 1)
      assert.equal(await usedProofs.insert({ hash: hash('1'), expiresAt: after(9) }), true)
      assert.equal(await usedProofs.removeExpired(after(3), 10), 1)
      assert.equal(await usedProofs.insert({ hash: hash('3'), expiresAt: after(9) }), false)
    })
  })
}
