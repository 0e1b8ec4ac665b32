/** The copies of this instance learn what a transaction committed, and nothing that it did not. D-34, D-260. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { NOON } from '../../../../test/support/clocks/manual-clock.ts'
import type { ApiSessionId } from '../../../base/ids.ts'
import { minutes } from '../../../base/time/duration.ts'
import { plus } from '../../../base/time/instant.ts'
import { openStore } from '../../../store/open.ts'
import { endingOf } from '../api-session.ts'
import { type News, tellCopies } from './tell-copies.ts'

const ENDING = endingOf('session-1' as ApiSessionId, NOON, plus(NOON, minutes(30)))

async function world(t: TestContext) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  /** What the copies were told, in order. */
  const told: unknown[] = []
  const transaction = tellCopies(store.transaction, {
    endedSessions: { add: (ending) => told.push(ending) },
    rules: {
      async refresh() {
        told.push(`rules ${await store.ruleVersions.current()}`)
      },
    },
  })
  return { store, told, transaction }
}

test('tells the copy of ended sessions after the commit, and not before', async (t) => {
  const { store, told, transaction } = await world(t)
  const sequence = await transaction(async (tx) => {
    const outcome = await tx.sessionEndings.insert(ENDING)
    assert.deepEqual(told, [])
    return outcome
  })
  assert.equal(sequence, 1)
  assert.deepEqual(told, [{ ...ENDING, sequence }])
  assert.equal((await store.sessionEndings.listAfter(0)).length, 1)
})

test('tells an ending again that was stored before: another instance may have stored it a moment ago', async (t) => {
  const { told, transaction } = await world(t)
  await transaction((tx) => tx.sessionEndings.insert(ENDING))
  assert.equal(await transaction((tx) => tx.sessionEndings.insert(ENDING)), undefined)
  assert.deepEqual(told, [{ ...ENDING, sequence: 1 }, ENDING])
})

test('reads changed rules again before it resolves', async (t) => {
  const { store, told, transaction } = await world(t)
  const before = await store.ruleVersions.current()
  await transaction((tx) => tx.ruleVersions.raise())
  assert.deepEqual(told, [`rules ${before + 1}`])
})

test('tells nothing when the transaction fails', async (t) => {
  const { store, told, transaction } = await world(t)
  const failing = transaction(async (tx) => {
    await tx.sessionEndings.insert(ENDING)
    await tx.ruleVersions.raise()
    throw new Error('out of luck')
  })
  await assert.rejects(failing, { message: 'out of luck' })
  assert.deepEqual(told, [])
  assert.deepEqual(await store.sessionEndings.listAfter(0), [])
})

test('tells nothing of a transaction that ends no session and changes no rule', async (t) => {
  const { told, transaction } = await world(t)
  assert.equal(await transaction((tx) => tx.ruleVersions.current()), 0)
  assert.deepEqual(told, [])
})

test('D-289: tells the other processes what was committed, and resolves when they know it', async (t) => {
  const { store } = await world(t)
  const heard: News[] = []
  const known = Promise.withResolvers<void>()
  const transaction = tellCopies(store.transaction, {
    endedSessions: { add() {} },
    rules: { async refresh() {} },
    others: {
      async tell(news) {
        heard.push(news)
        await known.promise
      },
    },
  })
  await transaction(async () => 'nothing new')
  assert.deepEqual(heard, [])
  let isResolved = false
  const ending = transaction((tx) => tx.sessionEndings.insert(ENDING)).then(() => {
    isResolved = true
  })
  while (heard.length === 0) await new Promise(setImmediate)
  assert.deepEqual(heard, [
    { endings: [{ ...ENDING, sequence: 1 }], hasNewRules: false, hasNewKeys: false },
  ])
  assert.ok(!isResolved)
  known.resolve()
  await ending
})
