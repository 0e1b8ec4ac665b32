/** Withdrawal of signing keys in the store: all of an earlier generation, once. D-135. Their life otherwise: contract.test.ts. */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { aSigningKey } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

for (const kind of ALL) {
  suite(kind.name, () => {
    test('keys of an earlier generation are removed and answered, and no other', async (t) => {
      const { signingKeys } = await (await kind.create(t)).open()
      const [first, second, third] = [aSigningKey(1), aSigningKey(2), aSigningKey(3)]
      for (const key of [first, second, third]) assert.equal(await signingKeys.insert(key), true)
      const removed = await signingKeys.removeBefore(3)
      assert.deepEqual(
        removed.toSorted((a, b) => a.generation - b.generation),
        [first, second],
      )
      assert.deepEqual(await signingKeys.list(), [third])
      assert.deepEqual(await signingKeys.removeBefore(3), [])
    })

    test('two that withdraw at once: each key is answered to one of them', async (t) => {
      const [one, other] = await openTwo(await kind.create(t))
      for (let i = 1; i <= 10; i++) await one.signingKeys.insert(aSigningKey(i))
      const removed = await Promise.all(
        [one, other].map(({ transaction }) => transaction((tx) => tx.signingKeys.removeBefore(10))),
      )
      const generations = removed.flat().map(({ generation }) => generation)
      assert.deepEqual(
        generations.toSorted((a, b) => a - b),
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
      )
    })
  })
}
