/** Guesses at one name from one origin end in the order in which they came: R079. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuessOrder } from './guess-order.ts'

const settled = () => new Promise(setImmediate)

test('a guess waits for all earlier guesses in its lane, and for no others', async () => {
  const begin = createGuessOrder()
  const guesses = Array.from({ length: 4 }, () => begin('ada'))
  const elsewhere = begin('zoë')
  const free: number[] = []
  for (const [i, { earlier }] of guesses.entries()) void earlier.then(() => free.push(i))
  let isElsewhereFree = false
  void elsewhere.earlier.then(() => {
    isElsewhereFree = true
  })
  await settled()
  assert.deepEqual(free, [0])
  assert.equal(isElsewhereFree, true)
  // The second ends before the first: the third waits for both.
  guesses[1]?.end()
  await settled()
  assert.deepEqual(free, [0])
  guesses[0]?.end()
  await settled()
  assert.deepEqual(free, [0, 1, 2])
  guesses[2]?.end()
  await settled()
  assert.deepEqual(free, [0, 1, 2, 3])
})

test('a lane whose guesses have ended delays no guess', async () => {
  const begin = createGuessOrder()
  begin('ada').end()
  await settled()
  await begin('ada').earlier
})
