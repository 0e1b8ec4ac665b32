/** The states of logins that came back from an IdP, on every database: each works once. D-155. */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import type { SecretHash } from '../../src/base/secrets/vault.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { after, NOON } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const hash = (name: string) => `hash-${name}` as SecretHash

for (const database of ALL) {
  suite(database.name, () => {
    test('a state is spent once, and others are not touched by it', async (t) => {
      const { spentStates } = await (await database.create(t)).open()
      assert.equal(await spentStates.insert({ hash: hash('a'), expiresAt: NOON }), true)
      assert.equal(await spentStates.insert({ hash: hash('a'), expiresAt: after(1) }), false)
      assert.equal(await spentStates.insert({ hash: hash('b'), expiresAt: NOON }), true)
    })

    test('of fifty that spend one state at once, one is the first', async (t) => {
      const stores = await openTwo(await database.create(t))
      const state = { hash: hash('a'), expiresAt: NOON }
      const spent = await Promise.all(
        Array.from({ length: 25 }).flatMap(() =>
          stores.map(({ spentStates }) => spentStates.insert(state)),
        ),
      )
      assert.equal(spent.length, 50)
      assert.equal(spent.filter((isFirst) => isFirst).length, 1)
    })

    test('expired ones are removed a few at a time, oldest first', async (t) => {
      const { spentStates } = await (await database.create(t)).open()
      for (const n of [3, 1, 2]) {
        await spentStates.insert({ hash: hash(String(n)), expiresAt: after(n) })
      }
      assert.equal(await spentStates.removeExpired(after(3), 1), 1)
      assert.equal(await spentStates.insert({ hash: hash('1'), expiresAt: after(9) }), true)
      assert.equal(await spentStates.removeExpired(after(3), 10), 1)
      assert.equal(await spentStates.insert({ hash: hash('3'), expiresAt: after(9) }), false)
    })
  })
}
