import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLoopTurns } from './loop-turns.ts'

test('D-380: a step that is alone begins at once', async () => {
  const turns = createLoopTurns()
  assert.equal(turns.next(), undefined)
  await nextTurn()
  assert.equal(turns.next(), undefined)
})

test('D-380: of several steps one begins in each turn, in order', async () => {
  const turns = createLoopTurns()
  const begun: number[] = []
  const steps = [0, 1, 2, 3].map(async (step) => {
    await turns.next()
    begun.push(step)
  })
  const seen: number[] = []
  for (const _ of steps) {
    await Promise.resolve()
    seen.push(begun.length)
    await nextTurn()
  }
  await Promise.all(steps)
  assert.deepEqual(begun, [0, 1, 2, 3])
  for (const [i, count] of seen.entries()) assert.ok(count <= i + 1, `${count} in turn ${i + 1}`)
})
